// SPDX-License-Identifier: Apache-2.0
/**
 * Collectives between the ranks of one group; the entry point is {@link
 * org.ddstore.collective.Communicator}. For ranks that are threads of one JVM use {@link
 * org.ddstore.collective.LocalGroup}; for ranks in several processes, on one host or more, one
 * {@link org.ddstore.collective.GroupEndpoint} per rank and one {@link
 * org.ddstore.collective.LaneExchange} per process.
 */
package org.ddstore.collective;
