// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handling of interrupts of driver threads. A change of a store has one commit point: an
 * interrupt before it aborts the change, which then frees everything; an interrupt after it has no
 * effect.
 */
public final class Interrupts {
  private static final Logger LOG = LoggerFactory.getLogger(Interrupts.class);

  private Interrupts() {}

  /**
   * Runs the clean-up of a committed or failed change, and repeats it after an interrupt. Logs its
   * exceptions instead of throwing them, so that they hide neither the result nor the error of the
   * change. Sets the interrupt flag of the thread afterwards if an interrupt occurred.
   *
   * @param name name of the clean-up, for the log
   * @param cleanUp clean-up that may run several times, and may throw {@link InterruptedException}
   *     undeclared, as Spark does
   */
  public static void cleanUp(String name, Runnable cleanUp) {
    boolean interrupted = Thread.interrupted();
    for (boolean isRetried = true; isRetried; ) {
      isRetried = false;
      try {
        cleanUp.run();
      } catch (Exception e) {
        if (e instanceof InterruptedException || Thread.interrupted()) {
          interrupted = true;
          isRetried = true;
        } else {
          LOG.warn("clean-up failed: {}", name, e);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns the exception of a change that failed before its commit point. Converts an {@link
   * InterruptedException} that Spark throws undeclared to a {@link DDStoreException}, and restores
   * the interrupt flag.
   *
   * @param change name of the change and its store, as in {@code load of "train"}
   */
  public static RuntimeException beforeCommit(Throwable thrown, String change) {
    if (thrown instanceof RuntimeException e) {
      return e;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    if (thrown instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return new DDStoreException(
          "%s was interrupted; rows that it had loaded but not published are freed"
              .formatted(change),
          thrown);
    }
    return new DDStoreException("%s failed: %s".formatted(change, thrown), thrown);
  }
}
