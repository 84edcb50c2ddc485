// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits for channels: they poll as long as short waits occur, and miss nothing. */
@Timeout(60)
class PollingWaitTest {
  private static final long UNLIMITED_MS = 0;
  private static final int SUCCESSION = 8;
  private static final int WAITS = 20;

  private static final int MAX_PAUSE = 2048;
  private static final int MOST_SLEEPS = 4 * MAX_PAUSE;
  private static final long LONG_YIELD_NS = 300_000;
  private static final long LONG_SLEEP_NS = 300_000;
  private static final int TRIES = 1000;

  @Test
  void reportsReadyChannelsByPollsAndAfterSleeps() throws Exception {
    List<SelectionKey> ready = new ArrayList<>();
    Pipe pipe = Pipe.open();
    try (Selector selector = Selector.open();
        Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      source.configureBlocking(false);
      SelectionKey key = source.register(selector, SelectionKey.OP_READ);
      PollingWait wait = new PollingWait(ready::add, () -> false);
      write(sink);
      assertThat(wait.select(selector, UNLIMITED_MS, true)).isOne();
      assertThat(ready).containsExactly(key);
      assertThat(source.read(ByteBuffer.allocate(2))).isOne();
      ready.clear();
      for (int i = 0; i < WAITS; i++) {
        assertThat(wait.select(selector, 1, true)).isZero();
        assertThat(ready).isEmpty();
      }
      for (int i = 0; i < WAITS; i++) {
        Thread writer = new Thread(() -> write(sink));
        writer.start();
        assertThat(wait.select(selector, UNLIMITED_MS, true)).isOne();
        assertThat(ready).containsExactly(key);
        assertThat(source.read(ByteBuffer.allocate(2))).isOne();
        ready.clear();
        writer.join();
      }
    }
  }

  private static void write(Pipe.SinkChannel sink) {
    try {
      sink.write(ByteBuffer.allocate(1));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A poll discards the wake-up: the wait would sleep without an end if it did not look again. */
  @Test
  void stopsWithoutAChannel() throws Exception {
    try (Selector selector = Selector.open()) {
      for (int i = 0; i < TRIES; i++) {
        AtomicBoolean stop = new AtomicBoolean();
        PollingWait wait = new PollingWait(key -> {}, stop::get);
        Thread stopper =
            new Thread(
                () -> {
                  stop.set(true);
                  selector.wakeup();
                });
        stopper.start();
        assertThat(wait.select(selector, UNLIMITED_MS, true)).isZero();
        assertThat(stop).isTrue();
        stopper.join();
      }
    }
  }

  @Test
  void interruptEndsAWait() throws Exception {
    try (Selector selector = Selector.open()) {
      PollingWait wait = new PollingWait(key -> {}, () -> false);
      for (int i = 0; i < WAITS; i++) {
        Thread.currentThread().interrupt();
        assertThat(wait.select(selector, UNLIMITED_MS, true)).isZero();
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  @Test
  void pollsUnlessPollsWereInVain() throws Exception {
    try (CountedSelector selector = new CountedSelector()) {
      PollingWait wait = new PollingWait(key -> {}, () -> false, selector::clock);
      for (int i = 0; i < SUCCESSION; i++) {
        int before = selector.polls;
        wait.select(selector, 1, true);
        assertThat(selector.polls).as("polls of wait %d", i).isGreaterThan(before + 1);
      }
      int polls = selector.polls;
      for (int i = 0; i < WAITS; i++) {
        wait.select(selector, 1, true);
      }
      assertThat(selector.polls).as("polls after vain ones").isEqualTo(polls);
      assertThat(selector.sleeps).isEqualTo(SUCCESSION + WAITS);

      selector.hasKey = true;
      selector.stepNs = LONG_SLEEP_NS;
      assertThat(sleepsUntilPolls(wait, selector)).as("long sleeps").isEqualTo(MOST_SLEEPS);
      selector.stepNs = 1000;
      assertThat(sleepsUntilPolls(wait, selector)).as("short sleeps").isEqualTo(SUCCESSION);

      polls = selector.polls;
      wait.select(selector, 1, false);
      assertThat(selector.polls).as("polls of a wait that may not").isEqualTo(polls);
    }
  }

  /** Another thread needs the processor: the more often, the longer no wait polls. */
  @Test
  void longYieldsPausePolls() throws Exception {
    try (CountedSelector selector = new CountedSelector()) {
      PollingWait wait = new PollingWait(key -> {}, () -> false, selector::clock);
      for (int pause = SUCCESSION; pause <= 2 * MAX_PAUSE; pause *= 2) {
        selector.hasKey = false;
        selector.stepNs = LONG_YIELD_NS;
        int polls = selector.polls;
        int sleeps = selector.sleeps;
        wait.select(selector, 1, true);
        assertThat(selector.polls - polls).as("polls before a pause of %d", pause).isOne();
        assertThat(selector.sleeps - sleeps).isOne();

        selector.hasKey = true;
        selector.stepNs = 1000;
        assertThat(sleepsUntilPolls(wait, selector))
            .as("sleeps of a pause")
            .isEqualTo(Math.min(pause, MAX_PAUSE));
      }
      for (int i = 0; i < MAX_PAUSE; i++) {
        wait.select(selector, 1, true);
      }
      selector.hasKey = false;
      selector.stepNs = LONG_YIELD_NS;
      wait.select(selector, 1, true);
      selector.hasKey = true;
      selector.stepNs = 1000;
      assertThat(sleepsUntilPolls(wait, selector))
          .as("sleeps of a pause after successful polls")
          .isEqualTo(SUCCESSION);
    }
  }

  /** Returns the number of waits that sleep at once before one polls. */
  private static int sleepsUntilPolls(PollingWait wait, CountedSelector selector)
      throws IOException {
    int polls = selector.polls;
    int before = selector.sleeps;
    while (selector.polls == polls && selector.sleeps - before < MOST_SLEEPS) {
      wait.select(selector, 1, true);
    }
    return selector.sleeps - before;
  }

  /** Tasks that add tasks must not keep the channels waiting. */
  @Test
  void looksAtTheChannelsAlthoughItStops() throws Exception {
    try (CountedSelector selector = new CountedSelector()) {
      List<SelectionKey> ready = new ArrayList<>();
      PollingWait wait = new PollingWait(ready::add, () -> true);
      selector.hasKey = true;
      for (boolean mayPoll : new boolean[] {true, false}) {
        assertThat(wait.select(selector, UNLIMITED_MS, mayPoll)).isPositive();
        assertThat(ready).isNotEmpty();
        ready.clear();
      }
      assertThat(selector.sleeps).isZero();
    }
  }

  /** A selector that counts polls and sleeps, both of which return at once, and a clock. */
  private static final class CountedSelector extends AbstractSelector {
    private final Set<SelectionKey> selected = new HashSet<>();
    private int polls;
    private int sleeps;
    private boolean hasKey;
    private long stepNs = 1000;
    private long nowNs;

    CountedSelector() {
      super(null);
    }

    /** Returns a time that is later with each call. */
    long clock() {
      nowNs += stepNs;
      return nowNs;
    }

    @Override
    public int selectNow() {
      polls++;
      return take();
    }

    @Override
    public int select(long timeoutMs) {
      sleeps++;
      return take();
    }

    private int take() {
      if (hasKey) {
        selected.add(new NoKey());
      }
      return selected.size();
    }

    @Override
    public int select() {
      return select(0);
    }

    @Override
    public Set<SelectionKey> keys() {
      return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
      return selected;
    }

    @Override
    public Selector wakeup() {
      return this;
    }

    @Override
    protected void implCloseSelector() {}

    @Override
    protected SelectionKey register(
        AbstractSelectableChannel channel, int operations, Object attachment) {
      throw new UnsupportedOperationException();
    }
  }

  /** A key of no channel. */
  private static final class NoKey extends AbstractSelectionKey {
    @Override
    public SelectableChannel channel() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Selector selector() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int interestOps() {
      return 0;
    }

    @Override
    public SelectionKey interestOps(int operations) {
      return this;
    }

    @Override
    public int readyOps() {
      return 0;
    }
  }
}
