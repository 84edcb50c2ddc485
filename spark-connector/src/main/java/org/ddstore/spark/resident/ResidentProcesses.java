package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.spark.SparkEnv;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver says to the processes that hold a resident store: questions and answers over the
 * store's own connections. A process that has ended is no error; one that does not answer in time
 * is. Any thread.
 */
public final class ResidentProcesses implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentProcesses.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** More than Spark takes to give up an executor that does not answer. */
  private static final Duration CONFIRM_LIMIT = Duration.ofMinutes(4);

  /** How long a confirmation waits for one process before it asks the next. */
  private static final Duration ROUND = Duration.ofSeconds(1);

  private static final long AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final WireSession session;
  private final Duration patience;
  private final Duration limit;
  private int holds; // guarded by this
  private boolean isClosed; // guarded by this
  private boolean hasLeft; // guarded by this

  /**
   * @param session of the store, which this closes
   * @param patience with a process that does not answer
   * @param limit of the time in which all processes have to confirm
   */
  ResidentProcesses(WireSession session, Duration patience, Duration limit) {
    this.session = session;
    this.patience = patience;
    this.limit = limit;
  }

  /** Joins the store from the driver. */
  public static ResidentProcesses join(StoreToken token, Settings settings) {
    return new ResidentProcesses(
        Wire.join(token, WireOptions.of(SparkEnv.get(), settings.port())), PATIENCE, CONFIRM_LIMIT);
  }

  /**
   * The answers to a confirmation.
   *
   * @param ended processes that are gone, with everything that they had
   * @param expired processes that live and have freed what the attempt had loaded
   */
  record Confirmation(Set<ProcessAddress> ended, Set<ProcessAddress> expired) {}

  /**
   * Makes what an attempt has loaded stay. A process that does not answer is asked again, until it
   * is given up; it holds up no other.
   *
   * @param isGivenUp whether Spark has given up the executor of a process
   * @throws DeadlineExceededException if one does not answer within the limit and is not given up
   * @throws DDStoreException if one refuses, or the thread is interrupted
   */
  Confirmation confirm(
      Collection<ProcessAddress> processes, Nonce attempt, Predicate<ProcessAddress> isGivenUp) {
    Confirmation confirmation = new Confirmation(new HashSet<>(), new HashSet<>());
    Set<ProcessAddress> silent = new LinkedHashSet<>(processes);
    long endNs = System.nanoTime() + limit.toNanos();
    while (true) {
      silent.removeIf(process -> confirmAt(process, attempt, confirmation));
      for (ProcessAddress process : silent) {
        if (isGivenUp.test(process)) {
          confirmation.ended().add(process);
        }
      }
      silent.removeAll(confirmation.ended());
      if (silent.isEmpty()) {
        return confirmation;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new DeadlineExceededException(
            "%s have loaded their rows, and have not answered for %d s"
                .formatted(silent, limit.toSeconds()));
      }
    }
  }

  /** Asks once. True if it has answered, or has ended. */
  private boolean confirmAt(ProcessAddress process, Nonce attempt, Confirmation confirmation) {
    try {
      ByteBuffer answer =
          session
              .control()
              .call(process, ResidentControl.confirm(attempt), System.nanoTime() + ROUND.toNanos());
      if (!ResidentControl.parseFound(answer)) {
        confirmation.expired().add(process);
      }
      return true;
    } catch (PeerGoneException e) {
      (e.hasEnded() ? confirmation.ended() : confirmation.expired()).add(process);
      return true;
    } catch (DeadlineExceededException e) {
      return false;
    }
  }

  /**
   * Frees what an attempt has loaded, also if the thread is interrupted. Those that do not answer
   * free it by themselves.
   */
  void forget(Collection<ProcessAddress> processes, Nonce attempt) {
    AtOnce.forEach("ddstore-tell", processes, process -> forgetAt(process, attempt));
  }

  private void forgetAt(ProcessAddress process, Nonce attempt) {
    try {
      session.control().call(process, ResidentControl.forget(attempt), deadline());
    } catch (PeerGoneException e) {
      // Then it is freed.
    } catch (RuntimeException e) {
      LOG.warn("{} may keep rows of a load that failed: {}", process, e.getMessage());
    }
  }

  /**
   * Frees everything, also if the thread is interrupted; returns when it is freed. All are told at
   * the same time, and a process that does not answer is logged.
   */
  public void drop(Collection<ProcessAddress> processes) {
    AtOnce.forEach("ddstore-tell", processes, this::dropAt);
  }

  private void dropAt(ProcessAddress process) {
    long deadlineNs = deadline();
    try {
      while (true) { // it has begun, and when it has ended, the store is gone there
        session.control().call(process, ResidentControl.drop(), deadlineNs);
        LockSupport.parkNanos(AGAIN_NS);
      }
    } catch (PeerGoneException e) {
      // Then it is freed.
    } catch (DeadlineExceededException e) {
      LOG.warn("{} did not drop its rows within {}: {}", process, patience, e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("{} may keep rows of a dropped store: {}", process, e.getMessage());
    }
  }

  /**
   * Whether a process serves the store: false if it has ended, or does not answer in time.
   *
   * @throws DDStoreException if it refuses, or the thread is interrupted
   */
  boolean answers(ProcessAddress process) {
    try {
      session.control().call(process, ResidentControl.summary(), deadline());
      return true;
    } catch (PeerGoneException | DeadlineExceededException e) {
      LOG.warn("{} does not serve its rows: {}", process, e.getMessage());
      return false;
    }
  }

  /** What each process has; those that are gone are missing. */
  public Map<ProcessAddress, ResidentShards.Summary> summaries(
      Collection<ProcessAddress> processes) {
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

  private long deadline() {
    return System.nanoTime() + patience.toNanos();
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

  /** Whether the store has been dropped, or its load has failed. */
  synchronized boolean isClosed() {
    return isClosed;
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
