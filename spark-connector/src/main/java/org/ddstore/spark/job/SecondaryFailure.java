// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.concurrent.TimeUnit;
import org.ddstore.types.RankFailedException;

/**
 * A failure of a rank that is only a consequence of another rank's failure. Spark ends a job with
 * the first failure that reaches the driver and kills the other tasks, which loses their
 * exceptions. Therefore the cause must reach the driver first.
 */
final class SecondaryFailure {
  /** Longer than a failure takes to reach the driver, and the kill to reach the other tasks. */
  private static final long CAUSE_REPORTS_MS = 3_000;

  private static final long MAX_ORDER_MS = 10_000;

  private SecondaryFailure() {}

  /**
   * Returns whether an exception, or one of its causes, reports the failure of another rank.
   *
   * @param byRank rank that threw the exception
   */
  static boolean isConsequence(Throwable thrown, int byRank) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof RankFailedException failed && failed.rank() != byRank) {
        return true;
      }
    }
    return false;
  }

  /**
   * Lets the rank that caused the failure report first: waits for 3 s, or until Spark kills this
   * task and so interrupts its thread. The interrupt flag stays set.
   */
  static void awaitCause() {
    sleep(CAUSE_REPORTS_MS);
  }

  /**
   * Lets ranks with earlier rows report first that these cannot be loaded, as a rule: a rank far
   * slower than this one is not awaited. Waits for at most 10 s, longer in later ranks and after a
   * longer load. The interrupt flag stays set.
   *
   * @param elapsedMs time since the rank began
   */
  static void awaitEarlierRows(int rank, int ranks, long elapsedMs) {
    sleep(Math.min(MAX_ORDER_MS, CAUSE_REPORTS_MS + elapsedMs) * rank / ranks);
  }

  private static void sleep(long durationMs) {
    try {
      TimeUnit.MILLISECONDS.sleep(durationMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
