package org.ddstore.types;

import java.util.stream.Stream;

/** Runs every step of a clean-up, whatever fails; the first failure is thrown, later ones added. */
public final class Cleanup {
  private Cleanup() {}

  /** As {@link #runAll}, after a failure, to which those of the steps are added. */
  public static void after(Throwable failure, Stream<Runnable> steps) {
    try {
      runAll(steps);
    } catch (RuntimeException | Error e) {
      failure.addSuppressed(e);
    }
  }

  /** Runs them in their order, on the calling thread. */
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
