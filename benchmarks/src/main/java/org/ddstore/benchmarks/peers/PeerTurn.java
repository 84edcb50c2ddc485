// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

/**
 * The result of a turn.
 *
 * @param value value in the unit of the case
 * @param openMs share of opening in a start, in ms
 * @param mismatches number of rows that were wrong, missing or doubled
 */
record PeerTurn(double value, double openMs, long mismatches) {}
