// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;

/**
 * The measured time of training steps in one way, as medians over the rounds.
 *
 * @param way none, background or synchronous
 * @param stepMillis time of a step on the slowest rank, with its share of the checkpoint
 * @param saveMillis duration of the call of {@code save} on the slowest rank; 0 without checkpoints
 * @param ratio ratio of the step's time to that without checkpoints in the same round
 * @param mismatches number of bytes of the last checkpoint that differ from the saved ones
 */
record CheckpointTime(
    String way, double stepMillis, double saveMillis, double ratio, long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
