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
    Stage stage, long count, long totalNanos, long bestNanos, long bytes) {
  /** What has been done by a stage that has done nothing. */
  static StageStatistics none(Stage stage) {
    return new StageStatistics(stage, 0, 0, 0, 0);
  }

  /** With one batch more. */
  StageStatistics plus(long nanos, long moreBytes) {
    return new StageStatistics(
        stage,
        count + 1,
        totalNanos + nanos,
        count == 0 ? nanos : Math.min(bestNanos, nanos),
        bytes + moreBytes);
  }
}
