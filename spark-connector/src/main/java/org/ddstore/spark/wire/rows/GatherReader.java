// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reader of rows of other processes by gather requests, with several outstanding per process. It
 * keeps one data channel to each process that it has read from. A broken path is reopened unless
 * the process is known to have ended.
 */
public final class GatherReader implements RemoteReader {
  private static final Logger LOG = LoggerFactory.getLogger(GatherReader.class);
  private static final long WAIT_NS = Duration.ofMillis(100).toNanos();

  /** Duration after which a fetch no longer polls: a transfer that fills the network is longer. */
  private static final long SHORT_FETCH_NS = TimeUnit.MICROSECONDS.toNanos(500);

  private final RowPaths paths;
  private final Duration timeout;
  private final Map<ProcessAddress, DataChannel> channels = new HashMap<>();
  private volatile List<PeerFetch> fetches = List.of();
  private final AtomicInteger unfinished = new AtomicInteger(); // fetches
  private long fetchNs;
  private long deadlineNs;
  private Duration silence;
  private BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable;
  private volatile Selector selector; // null before the first fetch
  private boolean hasDropped;
  private volatile Thread waiting;
  private volatile boolean attention;
  private final boolean mayUseC;
  private RepliesInC inC; // null: Java receives all replies
  private final PollingWait channelWait = new PollingWait(GatherReader::ready, this::stops);

  /**
   * @param mayUseC whether C receives replies, if the library is loaded
   */
  public GatherReader(RowPaths paths, Duration timeout, boolean mayUseC) {
    this.paths = paths;
    this.timeout = timeout;
    this.mayUseC = mayUseC;
    begin();
  }

  private static void ready(SelectionKey key) {
    ((PeerFetch) key.attachment()).ready();
  }

  private boolean stops() {
    return attention;
  }

  @Override
  public void begin() {
    begin(timeout, (process, excluded) -> false);
  }

  @Override
  public void begin(
      Duration silenceLimit, BiPredicate<ProcessAddress, Set<ProcessAddress>> isReplaceable) {
    silence = silenceLimit;
    replaceable = isReplaceable;
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    openSelector();
    List<PeerFetch> begun = new ArrayList<>(peers.size());
    for (PeerRows rows : peers) {
      begun.add(new PeerFetch(this, rows));
    }
    fetches = begun;
    unfinished.set(begun.size());
    fetchNs = System.nanoTime();
    waiting = Thread.currentThread();
    try {
      fetches.forEach(PeerFetch::begin);
      await();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot wait for remote rows", e);
    } finally {
      fetches.forEach(PeerFetch::end);
      closeDropped();
    }
  }

  /** Lets the selector give up channels that were dropped, whose sockets stay open before that. */
  private void closeDropped() {
    if (!hasDropped) {
      return;
    }
    hasDropped = false;
    try {
      selector.selectNow(key -> {});
    } catch (IOException e) {
      LOG.debug("reader of store {}: cannot close data channels", store(), e);
    }
  }

  private void openSelector() {
    if (selector == null) {
      try {
        Selector opened = Selector.open();
        try {
          inC = mayUseC ? RepliesInC.open(opened, GatherReader::ready, this::stops) : null;
        } catch (IOException | RuntimeException | Error e) {
          opened.close();
          throw e;
        }
        selector = opened;
      } catch (IOException e) { // such as too many open files
        throw new DDStoreException("cannot wait for remote rows: " + e.getMessage(), e);
      }
    }
  }

  @Override
  public boolean awaits(ProcessAddress process) {
    return fetches.stream()
        .anyMatch(fetch -> fetch.rows().process().equals(process) && !fetch.isDone());
  }

  // Methods for fetches.

  Nonce store() {
    return paths.store();
  }

  boolean mayBeAlive(ProcessAddress process) {
    return paths.mayBeAlive(process);
  }

  /** Returns whether other processes have all rows of a process. */
  boolean isReplaceable(ProcessAddress process) {
    return replaceable.test(process, Set.of());
  }

  CompletableFuture<DataPath> open(ProcessAddress process) {
    return paths.open(process);
  }

  DataChannel channelTo(ProcessAddress process) {
    return channels.get(process);
  }

  /** Keeps a channel, and lets a fetch receive its replies. Called by the waiting thread. */
  void attach(DataChannel channel, PeerFetch fetch) throws IOException {
    channel.attach(selector, inC, fetch);
    channels.put(channel.peer(), channel);
  }

  /** Closes a channel that broke or owes replies. */
  void drop(DataChannel channel) {
    channels.remove(channel.peer(), channel);
    channel.close();
    hasDropped = true;
  }

  /** Wakes the waiting thread to call {@link PeerFetch#check}. Any thread may call this. */
  void wake() {
    attention = true;
    if (Thread.currentThread() != waiting) {
      selector.wakeup();
    }
  }

  /** Notes that a fetch is complete. Any thread may call this. */
  void finished() {
    if (unfinished.decrementAndGet() == 0) {
      wake(); // earlier ones do not interrupt the receipt of the others
    }
  }

  private void await() throws IOException {
    boolean late = false;
    while (true) {
      attention = false;
      int missing = 0;
      long nextNs = WAIT_NS;
      for (PeerFetch fetch : fetches) {
        fetch.check();
        missing += fetch.isDone() ? 0 : 1;
        nextNs = Math.min(nextNs, fetch.untilRetryNs());
      }
      if (missing == 0) {
        return;
      }
      giveUpSilent();
      if (late) { // and rows are missing after one more round
        throw new DeadlineExceededException(missing(timeout));
      }
      late = deadlineNs - System.nanoTime() <= 0;
      receive(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nextNs)));
    }
  }

  /** Receives replies until a fetch needs attention, or nothing arrives for a time. */
  private void receive(long waitMs) throws IOException {
    long leftMs = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime()));
    long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(waitMs, leftMs));
    int ready;
    do {
      ready = select(Math.min(waitMs, leftMs));
      if (Thread.currentThread().isInterrupted()) {
        throw new DDStoreException("interrupted while waiting for remote rows");
      }
    } while (ready > 0 && !attention && untilNs - System.nanoTime() > 0);
  }

  private int select(long limitMs) throws IOException {
    return inC == null
        ? channelWait.select(selector, limitMs, mayPoll())
        : channelWait.select(inC, limitMs, mayPoll());
  }

  /**
   * Returns whether the fetch has channels, which can be polled, and is so young that its duration
   * depends on the time to wake.
   */
  private boolean mayPoll() {
    return !channels.isEmpty() && System.nanoTime() - fetchNs < SHORT_FETCH_NS;
  }

  /**
   * Throws if a silent process can be replaced by another copy. Others that have been silent for
   * half of the limit, such as those of the same host, are replaced with it, as far as each row
   * keeps a copy.
   */
  private void giveUpSilent() {
    long longestNs = 0;
    for (PeerFetch fetch : fetches) {
      longestNs = Math.max(longestNs, fetch.silentNs());
    }
    if (longestNs < silence.toNanos()) {
      return; // allocates nothing
    }
    Set<ProcessAddress> given = new HashSet<>();
    fetches.forEach(fetch -> giveUp(fetch, silence, given));
    if (!given.isEmpty()) {
      fetches.forEach(fetch -> giveUp(fetch, silence.dividedBy(2), given));
      throw new DeadlineExceededException(missing(silence));
    }
  }

  private void giveUp(PeerFetch fetch, Duration limit, Set<ProcessAddress> given) {
    PeerRows rows = fetch.rows();
    if (fetch.silentNs() >= limit.toNanos() && replaceable.test(rows.process(), given)) {
      rows.markSilent();
      given.add(rows.process());
    }
  }

  private String missing(Duration within) {
    StringBuilder text = new StringBuilder();
    for (PeerFetch fetch : fetches) {
      if (!fetch.isDone()) {
        text.append(text.length() == 0 ? "" : "; ").append(fetch.state());
      }
    }
    return "remote rows not received within %d ms: %s".formatted(within.toMillis(), text);
  }

  @Override
  public long memoryBytes() {
    return channels.values().stream().mapToLong(DataChannel::memoryBytes).sum();
  }

  @Override
  public void close() {
    channels.values().forEach(DataChannel::close);
    channels.clear();
    if (inC != null) {
      inC.close();
      inC = null;
    }
    if (selector != null) {
      try {
        selector.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      selector = null;
    }
  }
}
