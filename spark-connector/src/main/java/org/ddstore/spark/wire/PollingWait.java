// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The waits of one thread for its channels. A wait polls them for a short time before it sleeps:
 * what is on its way often comes sooner than a thread can fall asleep and be woken. Between two
 * polls the other threads of the processor may run. A thread whose last waits were all long sleeps
 * at once. Used by one thread.
 */
final class PollingWait {
  /**
   * Duration of the polls of a wait. Measured (2 cores of an AMD EPYC under KVM, 2026-11-26, one
   * batch in flight, four measurements without polls and two with polls of 100 us): a single row of
   * 256 B takes 54 to 67 us and 36 us, a batch of 64 rows 66 to 167 us and 48 us. Polls of 20 us
   * gain half of that; polls by only one of the two threads, or without a yield, gain less.
   */
  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Longest short wait: a sleep that polls would have avoided also takes the time to wake. */
  private static final long SHORT_NS = 2 * POLL_NS;

  /** Number of successive long waits after which a wait sleeps at once. */
  private static final int MOST_LONG_WAITS = 8;

  private final Consumer<SelectionKey> action;
  private final BooleanSupplier stop;
  private final Consumer<SelectionKey> timed = this::ready;
  private boolean isReady;
  private long readyNs;
  private int longWaits;

  /**
   * @param action called for each channel that is ready
   * @param stop whether a wait ends without a channel; {@link Selector#wakeup()} must follow the
   *     change of its value
   */
  PollingWait(Consumer<SelectionKey> action, BooleanSupplier stop) {
    this.action = action;
    this.stop = stop;
  }

  /**
   * Waits until a channel is ready, {@code stop} returns true or the thread is interrupted.
   *
   * @param timeoutMs longest sleep in milliseconds; 0: unlimited
   * @return number of channels that were ready
   */
  int select(Selector selector, long timeoutMs) throws IOException {
    long startNs = System.nanoTime();
    isReady = false;
    int ready = longWaits < MOST_LONG_WAITS ? poll(selector, startNs) : 0;
    if (ready == 0 && !stop.getAsBoolean()) {
      ready = selector.select(timed, timeoutMs);
    }
    boolean isLong = !isReady || readyNs - startNs > SHORT_NS;
    longWaits = isLong ? Math.min(longWaits + 1, MOST_LONG_WAITS) : 0;
    return ready;
  }

  @SuppressWarnings("ThreadPriorityCheck") // right without it, too, but slower
  private int poll(Selector selector, long startNs) throws IOException {
    int ready;
    do {
      ready = selector.selectNow(timed);
      if (ready > 0 || stop.getAsBoolean()) {
        break;
      }
      Thread.yield();
    } while (System.nanoTime() - startNs < POLL_NS);
    return ready;
  }

  private void ready(SelectionKey key) {
    if (!isReady) {
      isReady = true;
      readyNs = System.nanoTime();
    }
    action.accept(key);
  }
}
