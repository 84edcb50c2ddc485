package org.ddstore;

import java.util.stream.Stream;

/** Runs every step of a clean-up, whatever fails; the first failure is thrown, later ones added. */
public final class Cleanup {
  private Cleanup() {}

  /** Runs them in their order, on the calling thread. */
  public static void runAll(Stream<Runnable> steps) {
    RuntimeException first = null;
    for (Runnable step : (Iterable<Runnable>) steps::iterator) {
      try {
        step.run();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
