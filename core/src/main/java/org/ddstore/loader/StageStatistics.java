package org.ddstore.loader;

/**
 * What a stage of a loader has done since it was opened.
 *
 * @param stage the stage
 * @param count batches that passed it
 * @param totalNanos time in it, over all batches
 * @param bestNanos the shortest time of one batch; 0 without batches
 * @param bytes of the batches when they left it; 0 for stages that have none
 */
public record StageStatistics(
    Stage stage, long count, long totalNanos, long bestNanos, long bytes) {}
