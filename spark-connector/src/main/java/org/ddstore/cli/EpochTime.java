package org.ddstore.cli;

import java.io.Serializable;

/**
 * How long an epoch takes in one way.
 *
 * @param epochSeconds until the slowest rank has its last batch, in the median round
 * @param waits the part of its time that a consumer waits whose step is slower than this way, of
 *     [0, 1]; null where that is not counted
 * @param mismatches rows of one epoch that were not those of the order, or not what was written
 */
record EpochTime(EpochWay way, int rowBytes, double epochSeconds, Double waits, long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
