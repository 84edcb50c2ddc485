// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;

/**
 * The measured time of an epoch in one way.
 *
 * @param epochSeconds time in seconds until the slowest rank has its last batch, in the median
 *     round
 * @param waits share of time, in [0, 1], that a consumer with a slower step waits; null if not
 *     counted
 * @param mismatches number of rows of one epoch that differ from the order or from the written rows
 */
record EpochTime(EpochWay way, int rowBytes, double epochSeconds, Double waits, long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
