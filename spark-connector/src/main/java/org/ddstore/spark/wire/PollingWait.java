// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The waits of one thread for its channels. A wait polls them for a short time before it sleeps: a
 * reply often arrives in less time than a thread needs to fall asleep and wake. Between two polls
 * the other threads of the processor may run. If polls are in vain, waits sleep at once until some
 * sleeps in succession were short. Used by one thread.
 */
final class PollingWait {
  /**
   * Duration of the polls of a wait. Measured (2 cores of an AMD EPYC under KVM, 2026-11-26, one
   * batch in flight, four measurements without polls and two with polls of 100 us): a single row of
   * 256 B takes 54 to 67 us and 36 us, a batch of 64 rows 66 to 167 us and 48 us. Polls of 20 us
   * gain half of that; polls by only one of the two threads, or without a yield, gain less.
   */
  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Duration of a sleep that polls would have avoided: it includes the time to wake. */
  private static final long SHORT_NS = 2 * POLL_NS;

  /**
   * Number of waits in succession whose polls were in vain, before waits sleep at once; and of
   * short sleeps, before a wait polls again.
   */
  private static final int SUCCESSION = 8;

  private final Consumer<SelectionKey> action;
  private final BooleanSupplier stop;
  private final Consumer<SelectionKey> timed = this::ready;
  private boolean isReady;
  private long readyNs;
  private int vainPolls;
  private int shortSleeps;

  /**
   * @param action called for each channel that is ready
   * @param stop whether a wait ends without a channel; another thread that makes it true must then
   *     call {@link Selector#wakeup()}
   */
  PollingWait(Consumer<SelectionKey> action, BooleanSupplier stop) {
    this.action = action;
    this.stop = stop;
  }

  /**
   * Waits until a channel is ready, {@code stop} returns true, the thread is interrupted or the
   * time is over. Looks at the channels at least once. Polls do not notice an interrupt.
   *
   * @param timeoutMs longest sleep in milliseconds; 0: unlimited
   * @param mayPoll false for a wait that sleeps at once, for example during a long transfer, whose
   *     speed does not depend on the time to wake
   * @return number of channels that were ready
   */
  int select(Selector selector, long timeoutMs, boolean mayPoll) throws IOException {
    long startNs = System.nanoTime();
    isReady = false;
    boolean polls = mayPoll && vainPolls < SUCCESSION;
    int ready = polls ? poll(selector, startNs) : 0;
    if (isReady) {
      vainPolls = 0;
      return ready;
    }
    if (stop.getAsBoolean()) {
      return polls ? 0 : selector.selectNow(timed);
    }
    ready = selector.select(timed, timeoutMs);
    if (polls) {
      vainPolls++;
    } else if (mayPoll) {
      noteSleep(isReady && readyNs - startNs <= SHORT_NS);
    }
    return ready;
  }

  private void noteSleep(boolean isShort) {
    shortSleeps = isShort ? shortSleeps + 1 : 0;
    if (shortSleeps == SUCCESSION) {
      shortSleeps = 0;
      vainPolls = SUCCESSION - 1; // the next polls are an attempt
    }
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
