package org.ddstore;

import java.util.stream.Stream;

/** Runs every step of a clean-up, whatever fails; the first failure is thrown, later ones added. */
final class Cleanup {
  private Cleanup() {}

  static void runAll(Stream<Runnable> steps) {
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
