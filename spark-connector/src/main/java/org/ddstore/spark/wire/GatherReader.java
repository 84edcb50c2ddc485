package org.ddstore.spark.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;

/**
 * Reads rows of other processes by gather requests, a few outstanding per process. A connection
 * that breaks is made again, as long as the process is not known to have ended.
 */
final class GatherReader implements RemoteReader {
  private static final long PARK_NS = Duration.ofMillis(100).toNanos();

  private final WireSession session;
  private final Duration timeout;
  private volatile List<PeerFetch> fetches = List.of();
  private long deadlineNs;
  private Duration silence;
  private Predicate<ProcessAddress> replaceable;
  private volatile Thread waiting;

  GatherReader(WireSession session, Duration timeout) {
    this.session = session;
    this.timeout = timeout;
    begin();
  }

  @Override
  public void begin() {
    begin(timeout, process -> false);
  }

  @Override
  public void begin(Duration ofOne, Predicate<ProcessAddress> isReplaceable) {
    silence = ofOne;
    replaceable = isReplaceable;
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    waiting = Thread.currentThread();
    List<PeerFetch> begun = new ArrayList<>(peers.size());
    for (PeerRows rows : peers) {
      begun.add(new PeerFetch(session, rows, this::wake));
    }
    fetches = begun;
    try {
      fetches.forEach(PeerFetch::begin);
      await();
    } finally {
      fetches.forEach(PeerFetch::cancel);
      waiting = null;
    }
  }

  @Override
  public boolean awaits(ProcessAddress process) {
    return fetches.stream()
        .anyMatch(fetch -> fetch.rows().process().equals(process) && !fetch.isDone());
  }

  /** Called by the network's threads when a fetch has ended or wants to be looked at. */
  private void wake() {
    LockSupport.unpark(waiting);
  }

  private void await() {
    while (true) {
      boolean done = true;
      long nextNs = PARK_NS;
      for (PeerFetch fetch : fetches) {
        fetch.check();
        done &= fetch.isDone();
        nextNs = Math.min(nextNs, fetch.untilRetryNs());
      }
      if (done) {
        return;
      }
      giveUpSilent();
      long leftNs = deadlineNs - System.nanoTime();
      if (leftNs <= 0) {
        throw new DeadlineExceededException(missing(timeout));
      }
      LockSupport.parkNanos(this, Math.min(leftNs, Math.max(1, nextNs)));
      if (Thread.currentThread().isInterrupted()) {
        throw new DDStoreException("interrupted while waiting for remote rows");
      }
    }
  }

  /** Throws if others can stand in for processes that are silent. */
  private void giveUpSilent() {
    boolean isOne = false;
    for (PeerFetch fetch : fetches) {
      PeerRows rows = fetch.rows();
      if (fetch.silentNs() >= silence.toNanos() && replaceable.test(rows.process())) {
        rows.markSilent();
        isOne = true;
      }
    }
    if (isOne) {
      throw new DeadlineExceededException(missing(silence));
    }
  }

  private String missing(Duration within) {
    StringBuilder text = new StringBuilder();
    for (PeerFetch fetch : fetches) {
      if (!fetch.isDone()) {
        text.append(text.length() == 0 ? "" : "; ").append(fetch.state());
      }
    }
    return "remote rows did not come within %d ms: %s".formatted(within.toMillis(), text);
  }

  @Override
  public void close() {
    // Holds nothing between fetches.
  }
}
