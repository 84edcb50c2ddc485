// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

/**
 * The statistics of one stage of a loader since it was opened.
 *
 * @param stage the stage
 * @param count batches that passed it
 * @param totalNanos time in the stage over all batches, in nanoseconds
 * @param bestNanos shortest time of one batch, in nanoseconds; 0 without batches
 * @param bytes bytes of the batches when they left the stage; 0 for stages without bytes
 */
public record StageStatistics(
    Stage stage, long count, long totalNanos, long bestNanos, long bytes) {}
