// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The waits of one thread for its channels. A wait polls them for a short time before it sleeps: a
 * reply often arrives in less time than a thread needs to fall asleep and wake. Between two polls
 * the other threads of the processor may run. Polls pause, and waits sleep at once, after a yield
 * that took long, because another thread needs the processor, and after polls in vain. Used by one
 * thread.
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
  static final long SHORT_NS = 2 * POLL_NS;

  /**
   * Duration of a poll and the yield after it that reader and owner alone do not explain. On a
   * quiet host 99 % take less than 100 us, whereas a thread that computes keeps the processor for
   * milliseconds. A thread that sleeps instead runs as soon as a channel is ready.
   */
  private static final long LONG_YIELD_NS = TimeUnit.MICROSECONDS.toNanos(200);

  /**
   * Number of waits in succession whose polls were in vain, before polls pause; each further one
   * renews the pause. And the shortest pause, in short sleeps.
   */
  private static final int SUCCESSION = 8;

  /**
   * Longest pause, in short sleeps: at least 0.1 s. Each long yield doubles the pause, and a
   * quarter as many successful polls halve it, so that pauses stay short on a quiet host and become
   * long beside threads that compute.
   */
  private static final int MAX_PAUSE = 2048;

  interface Channels {
    /** Handles those that are ready; returns their number. Does not block. */
    int now() throws IOException;

    /**
     * Waits until one is ready or the time is over, and handles those that are ready. May do so
     * several times.
     *
     * @param timeoutMs longest time in milliseconds; 0: unlimited
     * @param maxSleeps largest number of waits that a channel ends within SHORT_NS, at least 1
     * @return number of channels that were ready; 0 also if {@link Selector#wakeup()} ended the
     *     wait
     */
    int await(long timeoutMs, int maxSleeps) throws IOException;

    /** Returns how many waits of the last {@link #await} a channel ended within SHORT_NS. */
    int shortSleeps();
  }

  private final Consumer<SelectionKey> action;
  private final BooleanSupplier stop;
  private final LongSupplier clock;
  private final Consumer<SelectionKey> timed = this::ready;
  private long startNs; // of the last sleep
  private boolean isReady;
  private long readyNs;
  private int emptyPolls; // in succession
  private int successes; // since the last long yield or halved pause
  private int pause = SUCCESSION; // after the next long yield
  private int sleepsLeft; // of the present pause

  /**
   * @param action called for each channel that is ready
   * @param stop whether a wait ends without a channel; another thread that makes it true must then
   *     call {@link Selector#wakeup()}
   */
  PollingWait(Consumer<SelectionKey> action, BooleanSupplier stop) {
    this(action, stop, System::nanoTime);
  }

  /**
   * @param clock time in nanoseconds, as of {@link System#nanoTime()}
   */
  PollingWait(Consumer<SelectionKey> action, BooleanSupplier stop, LongSupplier clock) {
    this.action = action;
    this.stop = stop;
    this.clock = clock;
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
    return select(
        new Channels() {
          @Override
          public int now() throws IOException {
            return selector.selectNow(timed);
          }

          @Override
          public int await(long limitMs, int maxSleeps) throws IOException {
            startNs = clock.getAsLong();
            isReady = false;
            return selector.select(timed, limitMs);
          }

          @Override
          public int shortSleeps() {
            return isReady && readyNs - startNs <= SHORT_NS ? 1 : 0;
          }
        },
        timeoutMs,
        mayPoll);
  }

  /**
   * Waits like {@link #select(Selector, long, boolean)}, without the action. An interrupt need not
   * end it.
   */
  int select(Channels channels, long timeoutMs, boolean mayPoll) throws IOException {
    boolean polls = mayPoll && sleepsLeft == 0;
    int ready = polls ? poll(channels) : 0;
    if (ready > 0) {
      noteSuccess();
      return ready;
    }
    if (stop.getAsBoolean()) {
      return polls ? 0 : channels.now();
    }
    ready = channels.await(timeoutMs, mayPoll && !polls ? sleepsLeft : 1);
    if (polls) {
      noteVainPolls();
    } else if (mayPoll) {
      sleepsLeft = Math.max(0, sleepsLeft - channels.shortSleeps());
    }
    return ready;
  }

  @SuppressWarnings("ThreadPriorityCheck") // right without it, too, but slower
  private int poll(Channels channels) throws IOException {
    long pollNs = clock.getAsLong();
    long beforeNs = pollNs;
    while (true) {
      int ready = channels.now();
      if (ready > 0 || stop.getAsBoolean()) {
        return ready;
      }
      Thread.yield();
      long nowNs = clock.getAsLong();
      if (nowNs - beforeNs > LONG_YIELD_NS) {
        noteLongYield();
        return 0;
      }
      if (nowNs - pollNs >= POLL_NS) {
        return 0;
      }
      beforeNs = nowNs;
    }
  }

  private void noteSuccess() {
    emptyPolls = 0;
    successes++;
    if (successes >= pause / 4) {
      successes = 0;
      pause = Math.max(pause / 2, SUCCESSION);
    }
  }

  private void noteVainPolls() {
    emptyPolls++;
    if (emptyPolls >= SUCCESSION) {
      sleepsLeft = Math.max(sleepsLeft, SUCCESSION);
    }
  }

  private void noteLongYield() {
    sleepsLeft = pause;
    pause = Math.min(pause * 2, MAX_PAUSE);
    successes = 0;
  }

  private void ready(SelectionKey key) {
    if (!isReady) {
      isReady = true;
      readyNs = clock.getAsLong();
    }
    action.accept(key);
  }
}
