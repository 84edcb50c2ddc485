// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.Map;
import java.util.function.Consumer;

/**
 * The time limit of an operation. It counts ticks of a second, so a JVM that was stopped has lost
 * one tick.
 */
final class Watchdog implements AutoCloseable {
  private static final int GRACE_SECONDS = 30;
  private static final long TICK_MS = 1000;
  private static final int MAX_FRAMES = 60;

  private final Consumer<String> onHang;
  private final Thread thread = new Thread(this::tick, "chaos-watchdog");
  private String operation; // null if none runs
  private int ticksLeft;

  /**
   * @param onHang receives a description of the operation and of all threads
   */
  Watchdog(Consumer<String> onHang) {
    this.onHang = onHang;
    thread.setDaemon(true);
    thread.start();
  }

  synchronized void begin(String text, int deadlineSeconds) {
    operation = text;
    ticksLeft = deadlineSeconds + GRACE_SECONDS;
  }

  synchronized void end() {
    operation = null;
  }

  private void tick() {
    try {
      while (true) {
        Thread.sleep(TICK_MS);
        String late = late();
        if (late != null) {
          onHang.accept(late + threads());
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private synchronized String late() {
    if (operation == null || --ticksLeft > 0) {
      return null;
    }
    String late = operation + " exceeds its documented deadline by %d s".formatted(GRACE_SECONDS);
    operation = null;
    return late;
  }

  private static String threads() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      text.append("%n%s %s".formatted(each.getKey().getName(), each.getKey().getState()));
      StackTraceElement[] frames = each.getValue();
      for (int i = 0; i < Math.min(MAX_FRAMES, frames.length); i++) {
        text.append("%n    at %s".formatted(frames[i]));
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
