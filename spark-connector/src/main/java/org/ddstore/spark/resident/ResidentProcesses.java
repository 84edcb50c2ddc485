// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.spark.SparkEnv;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.OutsidePort;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's control connection to the processes that hold a resident store. An ended process is
 * no error; a process that does not answer in time is. Thread-safe.
 */
public final class ResidentProcesses implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentProcesses.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Longer than the time after which Spark removes an executor that does not answer. */
  private static final Duration CONFIRM_LIMIT = Duration.ofMinutes(4);

  /** Time that a confirmation waits for one process before it asks the next. */
  private static final Duration ROUND = Duration.ofSeconds(1);

  /** Pause before a process that did not answer is asked again. */
  private static final Duration AGAIN_LATER = Duration.ofSeconds(1);

  /** Time after which a process that never answers is no longer told. */
  private static final Duration LATEST = Duration.ofMinutes(15);

  private static final long AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final WireSession session;
  private final Duration patience;
  private final Duration limit;
  private int holds; // guarded by this
  private boolean isClosed; // guarded by this
  private boolean hasLeft; // guarded by this

  /**
   * @param session session of the store, owned and closed by this object
   * @param patience time limit of the answer of a process
   * @param limit time limit of the confirmation of all processes
   */
  ResidentProcesses(WireSession session, Duration patience, Duration limit) {
    this.session = session;
    this.patience = patience;
    this.limit = limit;
  }

  public static ResidentProcesses join(StoreToken token, Settings settings) {
    return new ResidentProcesses(
        Wire.join(token, WireOptions.of(SparkEnv.get(), settings.port())), PATIENCE, CONFIRM_LIMIT);
  }

  /**
   * Asks the processes of a load to confirm its rows, so that they stay. Asks a process that does
   * not answer again until Spark has removed its executor; such a process does not delay others.
   *
   * @param load load whose step is {@link LoadProtocol.Step#CONFIRM}; has another afterwards
   * @param isGivenUp whether Spark has removed the executor of a process
   * @throws DeadlineExceededException if a process of a live executor does not answer within the
   *     limit
   * @throws DDStoreException if a process refuses, or the thread is interrupted
   */
  void confirm(
      LoadProtocol<ProcessAddress> load, Nonce attempt, Predicate<ProcessAddress> isGivenUp) {
    long endNs = System.nanoTime() + limit.toNanos();
    while (true) {
      load.silent().forEach(process -> confirmAt(process, attempt, load));
      load.silent().stream().filter(isGivenUp).forEach(load::ended);
      if (load.silent().isEmpty()) {
        return;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new DeadlineExceededException(
            "processes %s have loaded their rows but have not answered for %d s"
                .formatted(load.silent(), limit.toSeconds()));
      }
    }
  }

  /** Asks a process once. */
  private void confirmAt(ProcessAddress process, Nonce attempt, LoadProtocol<ProcessAddress> load) {
    try {
      ByteBuffer answer =
          session
              .control()
              .call(process, ResidentControl.confirm(attempt), System.nanoTime() + ROUND.toNanos());
      load.answered(process, ResidentControl.parseShards(answer));
    } catch (PeerGoneException e) {
      if (e.hasEnded()) {
        load.ended(process);
      } else {
        load.answered(process, 0); // it had no other rows, and has left the store
      }
    } catch (DeadlineExceededException e) {
      LOG.debug("executor at {} has not confirmed its rows yet", process, e);
    }
  }

  /**
   * Frees the rows of an attempt, even if the thread is interrupted. Processes that do not answer
   * in time are told again, without waiting: they may have confirmed the rows.
   */
  void forget(Collection<ProcessAddress> processes, Nonce attempt) {
    Parallel.forEach("ddstore-tell", processes, process -> forgetAt(process, attempt));
  }

  private void forgetAt(ProcessAddress process, Nonce attempt) {
    try {
      session.control().call(process, ResidentControl.forget(attempt), deadline());
    } catch (PeerGoneException e) {
      // Then it is freed.
    } catch (DeadlineExceededException e) {
      LOG.warn("executor at {} has not freed rows of a failed load yet", process);
      freeLater(process, ResidentControl.forget(attempt), true);
    } catch (RuntimeException e) {
      LOG.warn("executor at {} may keep rows of a failed load: {}", process, e.getMessage());
    }
  }

  /**
   * Sends a request to a process again and again until it is done. Does not block.
   *
   * @param isDoneByAnswer whether an answer ends this; else only the end of the process, or its
   *     leave, does
   * @param goesOn whether to send it again
   * @param hold hold to close at the end
   */
  @SuppressWarnings("FutureReturnValueIgnored") // nothing waits for it
  private void tellLater(
      ProcessAddress process,
      ByteBuffer request,
      boolean isDoneByAnswer,
      BooleanSupplier goesOn,
      Hold hold) {
    session
        .sendControl(process, request.duplicate(), deadline())
        .whenCompleteAsync( // the end of a session may block
            (answer, failure) -> {
              boolean isDone = failure == null ? isDoneByAnswer : hasLeft(failure);
              if (isDone) {
                hold.close();
              } else if (goesOn.getAsBoolean()) {
                CompletableFuture.delayedExecutor(AGAIN_LATER.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> tellLater(process, request, isDoneByAnswer, goesOn, hold));
              } else {
                LOG.warn("executor at {} is not asked again: {}", process, String.valueOf(failure));
                hold.close();
              }
            });
  }

  private static boolean hasLeft(Throwable failure) {
    return failure instanceof PeerGoneException || failure.getCause() instanceof PeerGoneException;
  }

  /** Tells a process to free rows, for at most {@link #LATEST}. Does not block. */
  private void freeLater(ProcessAddress process, ByteBuffer request, boolean isDoneByAnswer) {
    long endNs = System.nanoTime() + LATEST.toNanos();
    tellLater(process, request, isDoneByAnswer, () -> System.nanoTime() - endNs < 0, hold());
  }

  /**
   * Frees all rows, even if the thread is interrupted, and waits until they are freed. Asks all
   * processes at the same time; logs a process that does not answer in time, and goes on asking it
   * without waiting.
   */
  public void drop(Collection<ProcessAddress> processes) {
    Parallel.forEach("ddstore-tell", processes, this::dropAt);
  }

  private void dropAt(ProcessAddress process) {
    long deadlineNs = deadline();
    try {
      while (true) { // until the store is gone in that process
        session.control().call(process, ResidentControl.drop(), deadlineNs);
        LockSupport.parkNanos(AGAIN_NS);
      }
    } catch (PeerGoneException e) {
      // Then it is freed.
    } catch (DeadlineExceededException e) {
      LOG.warn(
          "executor at {} did not drop its rows within {}: {}", process, patience, e.getMessage());
      freeLater(process, ResidentControl.drop(), false);
    } catch (RuntimeException e) {
      LOG.warn("executor at {} may keep rows of a dropped store: {}", process, e.getMessage());
    }
  }

  /**
   * Returns whether a process serves the store: false if it has ended or does not answer in time.
   *
   * @throws DDStoreException if the process refuses, or the thread is interrupted
   */
  boolean isReachable(ProcessAddress process) {
    try {
      session.control().call(process, ResidentControl.counters(), deadline());
      return true;
    } catch (PeerGoneException | DeadlineExceededException e) {
      LOG.warn("executor at {} does not serve its rows: {}", process, e.getMessage());
      return false;
    }
  }

  /**
   * Lets readers from outside of Spark read in a process, apart from those of revoked grants.
   *
   * @return its port for them, or why there is none: also if the process has ended
   * @throws DeadlineExceededException if the process does not answer in time
   */
  OutsidePort open(ProcessAddress process, Set<String> revokedLabels) {
    try {
      return ResidentControl.parseOpen(
          session.control().call(process, ResidentControl.open(revokedLabels), deadline()));
    } catch (PeerGoneException e) {
      return new OutsidePort(0, "executor at %s has ended".formatted(process));
    }
  }

  /** Ends grants in processes. Returns those that do not confirm, although they have not ended. */
  List<String> revoke(Collection<ProcessAddress> holders, Set<String> revokedLabels) {
    Set<ProcessAddress> confirmed = ConcurrentHashMap.newKeySet();
    Parallel.forEach(
        "ddstore-tell",
        holders,
        process -> {
          try {
            open(process, revokedLabels);
            confirmed.add(process);
          } catch (RuntimeException e) {
            LOG.warn("executor at {} did not confirm a revocation: {}", process, e.getMessage());
          }
        });
    List<ProcessAddress> silent =
        holders.stream().filter(process -> !confirmed.contains(process)).toList();
    silent.forEach(
        process ->
            tellLater(
                process, ResidentControl.open(revokedLabels), true, () -> !isClosed(), () -> {}));
    return silent.stream().map(ProcessAddress::toString).sorted().toList();
  }

  /**
   * Requests the report of a process. Does not block.
   *
   * @return encoded {@link ExecutorCounters}; fails with a {@link PeerGoneException} if the process
   *     has ended, with a {@link java.util.concurrent.TimeoutException} if it does not answer
   *     within the limit
   */
  CompletableFuture<ByteBuffer> counters(ProcessAddress process, Duration limit) {
    return session.sendControl(
        process, ResidentControl.counters(), System.nanoTime() + limit.toNanos());
  }

  /** Returns the address of this process. */
  public ProcessAddress local() {
    return session.local();
  }

  /** Answers the calls of processes that hold no rows; not if this process holds some. */
  void serve(PeerCalls.Service service) {
    session.control().serve(service);
  }

  /** Tells a process without rows that the store is dropped. Does not wait. */
  @SuppressWarnings("FutureReturnValueIgnored") // the process also leaves without it
  void endVisit(ProcessAddress process) {
    session.sendControl(process, ResidentControl.drop(), deadline());
  }

  private long deadline() {
    return System.nanoTime() + patience.toNanos();
  }

  /** A hold of a change on the store's processes. */
  interface Hold extends AutoCloseable {
    /** Releases the hold. Must be called once. */
    @Override
    void close();
  }

  /**
   * Returns a hold. {@link #close} does not leave the store before all holds are closed, so that a
   * change can still free the rows that it has loaded.
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

  /** Returns whether the store has been dropped, or its load has failed. */
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

  /** Leaves the store as soon as all holds are closed. Does not block. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    leaveUnlessHeld();
  }
}
