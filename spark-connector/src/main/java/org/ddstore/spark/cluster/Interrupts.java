package org.ddstore.spark.cluster;

import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Interrupts of the driver's threads. A change of a store has one commit point: an interrupt before
 * it ends the change, which then frees everything; an interrupt after it has no effect.
 */
public final class Interrupts {
  private static final Logger LOG = LoggerFactory.getLogger(Interrupts.class);

  private Interrupts() {}

  /**
   * Runs the clean-up of a change that is in force, or has failed; again after an interrupt. Logs
   * what it throws, so that it hides neither the result of the change nor its error. The interrupt
   * flag of the thread is set afterwards.
   *
   * @param name of the clean-up, for the log
   * @param cleanUp may run several times; may throw {@link InterruptedException} undeclared, as
   *     Spark does
   */
  public static void cleanUp(String name, Runnable cleanUp) {
    boolean interrupted = Thread.interrupted();
    for (boolean again = true; again; ) {
      again = false;
      try {
        cleanUp.run();
      } catch (Exception e) {
        if (e instanceof InterruptedException || Thread.interrupted()) {
          interrupted = true;
          again = true;
        } else {
          LOG.warn("{} failed", name, e);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns the exception of a change that has not come to its commit point: an {@link
   * InterruptedException} that Spark throws undeclared becomes one of ours, and sets the flag of
   * the thread again.
   *
   * @param change the change and its store, as in {@code load of "train"}
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
          "%s was interrupted; rows that it had loaded and not published are freed"
              .formatted(change),
          thrown);
    }
    return new DDStoreException("%s failed: %s".formatted(change, thrown), thrown);
  }
}
