package org.ddstore.spark.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.DDStoreException;
import org.ddstore.DeadlineExceededException;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;

/**
 * Reads rows of other processes by gather requests, a few outstanding per process. A connection
 * that breaks is made again, as long as the process is not known to have ended.
 */
final class GatherReader implements RemoteReader {
  private static final long PARK_NS = Duration.ofMillis(100).toNanos();

  private final WireSession session;
  private final Duration timeout;
  private final List<PeerFetch> fetches = new ArrayList<>();
  private long deadlineNs;
  private volatile Thread waiting;

  GatherReader(WireSession session, Duration timeout) {
    this.session = session;
    this.timeout = timeout;
    begin();
  }

  @Override
  public void begin() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    waiting = Thread.currentThread();
    fetches.clear();
    try {
      for (PeerRows rows : peers) {
        fetches.add(new PeerFetch(session, rows, this::wake));
      }
      fetches.forEach(PeerFetch::begin);
      await();
    } finally {
      fetches.forEach(PeerFetch::cancel);
      waiting = null;
    }
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
      long leftNs = deadlineNs - System.nanoTime();
      if (leftNs <= 0) {
        throw new DeadlineExceededException(missing());
      }
      LockSupport.parkNanos(this, Math.min(leftNs, Math.max(1, nextNs)));
      if (Thread.currentThread().isInterrupted()) {
        throw new DDStoreException("interrupted while waiting for remote rows");
      }
    }
  }

  private String missing() {
    StringBuilder text = new StringBuilder();
    for (PeerFetch fetch : fetches) {
      if (!fetch.isDone()) {
        text.append(text.length() == 0 ? "" : "; ").append(fetch.state());
      }
    }
    return "remote rows did not come within %d ms: %s".formatted(timeout.toMillis(), text);
  }

  @Override
  public void close() {
    // Holds nothing between fetches.
  }
}
