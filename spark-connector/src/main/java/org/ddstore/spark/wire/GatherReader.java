// SPDX-License-Identifier: Apache-2.0
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
 * A reader of rows of other processes by gather requests, with several outstanding per process. A
 * broken connection is reopened unless the process is known to have ended.
 */
final class GatherReader implements RemoteReader {
  private static final long PARK_NS = Duration.ofMillis(100).toNanos();

  private final Connections connections;
  private final StoreToken token;
  private final Duration timeout;
  private volatile List<PeerFetch> fetches = List.of();
  private long deadlineNs;
  private Duration silence;
  private Predicate<ProcessAddress> replaceable;
  private volatile Thread waiting;

  GatherReader(Connections connections, StoreToken token, Duration timeout) {
    this.connections = connections;
    this.token = token;
    this.timeout = timeout;
    begin();
  }

  @Override
  public void begin() {
    begin(timeout, process -> false);
  }

  @Override
  public void begin(Duration silenceLimit, Predicate<ProcessAddress> isReplaceable) {
    silence = silenceLimit;
    replaceable = isReplaceable;
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    waiting = Thread.currentThread();
    List<PeerFetch> begun = new ArrayList<>(peers.size());
    for (PeerRows rows : peers) {
      begun.add(new PeerFetch(connections, token, rows, this::wake));
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

  /** Wakes the waiting thread; called by network threads when a fetch ends or needs attention. */
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

  /** Throws if a silent process can be replaced by another copy. */
  private void giveUpSilent() {
    boolean found = false;
    for (PeerFetch fetch : fetches) {
      PeerRows rows = fetch.rows();
      if (fetch.silentNs() >= silence.toNanos() && replaceable.test(rows.process())) {
        rows.markSilent();
        found = true;
      }
    }
    if (found) {
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
    return "remote rows not received within %d ms: %s".formatted(within.toMillis(), text);
  }

  @Override
  public void close() {
    // No resources are held between fetches.
  }
}
