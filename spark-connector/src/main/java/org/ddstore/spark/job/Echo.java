package org.ddstore.spark.job;

import java.util.concurrent.TimeUnit;
import org.ddstore.types.RankFailedException;

/**
 * A rank that fails only because another one did. Spark ends a job by the first failure that
 * reaches the driver and kills the other tasks, so what they throw is lost: the cause must come
 * first.
 */
final class Echo {
  /** More than a failure takes to reach the driver, and the kill that follows to come back. */
  private static final long CAUSE_REPORTS_MS = 3_000;

  private Echo() {}

  /** True if {@code thrown} by a rank, or one of its causes, says that another rank failed. */
  static boolean isEcho(Throwable thrown, int byRank) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof RankFailedException failed && failed.rank() != byRank) {
        return true;
      }
    }
    return false;
  }

  /**
   * Lets the rank that caused the failure report it first: waits until Spark kills this task, which
   * interrupts its thread, or for some seconds. The interrupt flag stays set.
   */
  static void awaitCause() {
    try {
      TimeUnit.MILLISECONDS.sleep(CAUSE_REPORTS_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
