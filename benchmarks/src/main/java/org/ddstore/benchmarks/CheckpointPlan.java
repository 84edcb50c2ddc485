// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;

/**
 * The measurement of {@link CheckpointBench}.
 *
 * @param ranks number of ranks
 * @param parameters number of parameters of the model; a checkpoint has three floats for each
 * @param stepMillis time of the computation of a step
 * @param steps steps per checkpoint
 * @param rounds measured rounds
 * @param directory directory of the checkpoints
 */
record CheckpointPlan(
    int ranks, int parameters, double stepMillis, int steps, int rounds, String directory)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
