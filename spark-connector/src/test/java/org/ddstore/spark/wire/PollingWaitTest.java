// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

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
  private static final int WAITS = 20;

  /** Waits that are short unless the thread loses its processor meanwhile, so one of these is. */
  private static final int TRIES = 1000;

  @Test
  void reportsEachReadyChannelBeforeAndAfterItSleeps() throws Exception {
    List<SelectionKey> ready = new ArrayList<>();
    Pipe pipe = Pipe.open();
    try (Selector selector = Selector.open();
        Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      source.configureBlocking(false);
      SelectionKey key = source.register(selector, SelectionKey.OP_READ);
      PollingWait wait = new PollingWait(ready::add, () -> false);
      for (int i = 0; i < WAITS; i++) {
        assertThat(wait.select(selector, 1)).isZero();
        assertThat(ready).isEmpty();
      }
      for (int i = 0; i < WAITS; i++) {
        Thread writer = new Thread(() -> write(sink));
        writer.start();
        assertThat(wait.select(selector, UNLIMITED_MS)).isOne();
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
        assertThat(wait.select(selector, UNLIMITED_MS)).isZero();
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
        assertThat(wait.select(selector, UNLIMITED_MS)).isZero();
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  @Test
  void pollsUnlessTheLastWaitsWereLong() throws Exception {
    try (CountedSelector selector = new CountedSelector()) {
      PollingWait wait = new PollingWait(key -> {}, () -> false);
      for (int i = 0; i < 8; i++) {
        int before = selector.polls;
        wait.select(selector, 1);
        assertThat(selector.polls).as("polls of wait %d", i).isGreaterThan(before);
      }
      int polls = selector.polls;
      for (int i = 0; i < WAITS; i++) {
        wait.select(selector, 1);
      }
      assertThat(selector.polls).as("polls after long waits").isEqualTo(polls);
      assertThat(selector.sleeps).isEqualTo(8 + WAITS);

      selector.hasKey = true;
      for (int i = 0; i < TRIES && selector.polls == polls; i++) {
        wait.select(selector, 1);
      }
      assertThat(selector.polls).as("polls after a short wait").isGreaterThan(polls);
    }
  }

  /** A selector that counts polls and sleeps, both of which return at once. */
  private static final class CountedSelector extends AbstractSelector {
    private final Set<SelectionKey> selected = new HashSet<>();
    private int polls;
    private int sleeps;
    private boolean hasKey;

    CountedSelector() {
      super(null);
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
