// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.util.stream.Stream;

/** Clean-up that runs all steps, throws the first failure and adds later ones as suppressed. */
public final class Cleanup {
  private Cleanup() {}

  /**
   * Runs steps like {@link #runAll} after a failure, and adds their failures to it as suppressed.
   *
   * @param failure failure that the steps follow; later failures are added to it as suppressed
   * @param steps steps, in the order in which they run
   */
  public static void after(Throwable failure, Stream<Runnable> steps) {
    try {
      runAll(steps);
    } catch (RuntimeException | Error e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Runs the steps in order on the calling thread.
   *
   * @param steps steps, in the order in which they run
   */
  public static void runAll(Stream<Runnable> steps) {
    Throwable first = null;
    for (Runnable step : (Iterable<Runnable>) steps::iterator) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      throw (RuntimeException) first;
    }
  }
}
