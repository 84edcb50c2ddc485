package org.ddstore.spark;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.ddstore.DDStoreException;
import org.ddstore.DeadlineExceededException;
import org.ddstore.ProcessAddress;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.PeerGoneException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver says to the processes that hold a resident store: questions and answers over the
 * store's own connections. A process that has ended is no error; one that does not answer in time
 * is. Any thread.
 */
final class ResidentProcesses implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentProcesses.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long AGAIN_MS = 20;

  private final WireSession session;
  private int holds; // guarded by this
  private boolean isClosed; // guarded by this
  private boolean hasLeft; // guarded by this

  private ResidentProcesses(WireSession session) {
    this.session = session;
  }

  /** Joins the store from the driver. */
  static ResidentProcesses join(StoreToken token, Settings settings) {
    return new ResidentProcesses(Wire.join(token, WireOptions.of(SparkEnv.get(), settings.port())));
  }

  /**
   * Makes what an attempt has loaded stay.
   *
   * @return the processes that are gone, with what they had loaded
   * @throws DDStoreException if one does not answer
   */
  Set<ProcessAddress> confirm(Collection<ProcessAddress> processes, Nonce attempt) {
    Set<ProcessAddress> gone = new HashSet<>();
    long deadlineNs = deadline();
    for (ProcessAddress process : processes) {
      try {
        ByteBuffer answer =
            session.control().call(process, ResidentControl.confirm(attempt), deadlineNs);
        if (!ResidentControl.parseFound(answer)) {
          gone.add(process);
        }
      } catch (PeerGoneException e) {
        gone.add(process);
      }
    }
    return gone;
  }

  /** Frees what an attempt has loaded. Those that do not answer free it by themselves. */
  void forget(Collection<ProcessAddress> processes, Nonce attempt) {
    long deadlineNs = deadline();
    for (ProcessAddress process : processes) {
      try {
        session.control().call(process, ResidentControl.forget(attempt), deadlineNs);
      } catch (PeerGoneException e) {
        // Then it is freed.
      } catch (DDStoreException e) {
        LOG.warn("{} may keep rows of a load that failed: {}", process, e.getMessage());
      }
    }
  }

  /** Frees everything; returns when it is freed. A process that does not answer is logged. */
  void drop(Collection<ProcessAddress> processes) {
    long deadlineNs = deadline();
    List<ProcessAddress> left = new ArrayList<>(processes);
    while (!left.isEmpty()) {
      left.removeIf(process -> isDropped(process, deadlineNs));
      if (!left.isEmpty() && !pause()) {
        LOG.warn("interrupted while {} drop a store", left);
        return;
      }
    }
  }

  private boolean isDropped(ProcessAddress process, long deadlineNs) {
    try {
      session.control().call(process, ResidentControl.drop(), deadlineNs);
      return false; // it has begun; when it has ended, the store is gone there
    } catch (PeerGoneException e) {
      return true;
    } catch (DeadlineExceededException e) {
      LOG.warn("{} did not drop its rows within {}: {}", process, PATIENCE, e.getMessage());
      return true;
    } catch (DDStoreException e) {
      LOG.warn("{} may keep rows of a dropped store: {}", process, e.getMessage());
      return true;
    }
  }

  private static boolean pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(AGAIN_MS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** What each process has; those that are gone are missing. */
  Map<ProcessAddress, ResidentShards.Summary> summaries(Collection<ProcessAddress> processes) {
    Map<ProcessAddress, ResidentShards.Summary> all = new HashMap<>();
    long deadlineNs = deadline();
    for (ProcessAddress process : processes) {
      try {
        all.put(
            process,
            ResidentControl.parseSummary(
                session.control().call(process, ResidentControl.summary(), deadlineNs)));
      } catch (PeerGoneException e) {
        // It has nothing.
      }
    }
    return all;
  }

  private static long deadline() {
    return System.nanoTime() + PATIENCE.toNanos();
  }

  /** The end of the time in which a change of the store needs its processes. */
  interface Hold extends AutoCloseable {
    /** To be called once. */
    @Override
    void close();
  }

  /**
   * Until the hold is closed, {@link #close} does not leave the store, so that a change can still
   * free what it has loaded. Of no use after that.
   */
  synchronized Hold hold() {
    holds++;
    return () -> {
      synchronized (this) {
        holds--;
      }
      leaveUnlessHeld();
    };
  }

  private void leaveUnlessHeld() {
    synchronized (this) {
      if (!isClosed || holds > 0 || hasLeft) {
        return;
      }
      hasLeft = true;
    }
    session.close();
  }

  /** Leaves the store, as soon as nobody holds this. Does not block. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    leaveUnlessHeld();
  }
}
