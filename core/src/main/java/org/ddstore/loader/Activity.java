// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.concurrent.TimeUnit;

/**
 * A snapshot of what one thread of a loader is doing, readable by other threads.
 *
 * @param stage {@link Stage#PLAN}, {@link Stage#READ} or {@link Stage#TRANSFORM}
 * @param entry the batch, or the first batch of a combined read
 * @param userCode name of the user code that is running, such as {@code the transform
 *     com.example.Crop}; null for a read
 */
record Activity(Thread thread, Stage stage, Entry entry, String userCode, long sinceNanos) {
  long nanos() {
    return System.nanoTime() - sinceNanos;
  }

  /** Returns whether the thread is pulling samples from a user's iterator. */
  boolean isPull() {
    return stage == Stage.PLAN && entry.source().isPushed();
  }

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

  /** Returns the current stack of the thread, for use as an exception cause. */
  Throwable stack() {
    Throwable stack = new Throwable(describe());
    stack.setStackTrace(thread.getStackTrace());
    return stack;
  }
}
