/**
 * Collectives between the ranks of one group: {@link org.ddstore.collective.Communicator}. Ranks
 * that are threads of one JVM alone get theirs from {@link org.ddstore.collective.LocalGroup};
 * ranks in several processes, on one host or more, from a {@link
 * org.ddstore.collective.GroupEndpoint} each and a {@link org.ddstore.collective.LaneExchange} per
 * process.
 */
package org.ddstore.collective;
