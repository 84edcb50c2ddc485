package org.ddstore.cli;

import java.io.Serializable;

/**
 * How long an epoch takes in one way.
 *
 * @param epochSeconds until the slowest rank has its last batch, in the median round
 * @param mismatches rows of one epoch that were not those of the order, or not what was written
 */
record EpochTime(EpochWay way, int rowBytes, double epochSeconds, long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
