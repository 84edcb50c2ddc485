package org.ddstore.loader;

import java.util.concurrent.TimeUnit;

/**
 * What a thread of a loader does, as other threads may describe it.
 *
 * @param stage {@link Stage#PLAN}, {@link Stage#READ} or {@link Stage#TRANSFORM}
 * @param entry the batch, or the first of those that are read together
 * @param userCode the code of the user's that runs, as in {@code the transform com.example.Crop};
 *     null for a read
 */
record Activity(Thread thread, Stage stage, Entry entry, String userCode, long sinceNanos) {
  long nanos() {
    return System.nanoTime() - sinceNanos;
  }

  /** Whether it pulls samples out of an iterator of the user's. */
  boolean isPull() {
    return stage == Stage.PLAN && entry.source().isPushed();
  }

  /** Human-readable. */
  String describe() {
    long millis = TimeUnit.NANOSECONDS.toMillis(nanos());
    if (userCode != null) {
      return "thread \"%s\" has been in %s for %,d ms"
          .formatted(thread.getName(), userCode, millis);
    }
    String waits = entry.slot().waitsFor();
    return "thread \"%s\" has been reading for %,d ms%s"
        .formatted(thread.getName(), millis, waits.isEmpty() ? "" : " and waits " + waits);
  }

  /** Where the thread stands, to be a cause. */
  Throwable stack() {
    Throwable stack = new Throwable(describe());
    stack.setStackTrace(thread.getStackTrace());
    return stack;
  }
}
