// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.FrozenMembershipException;

/** The gate for all MPI calls of this JVM: one at a time, each under the watchdog. */
final class MpiCalls {
  private final ReentrantLock lock = new ReentrantLock();
  private final Watchdog watchdog;
  private volatile Call<?> beforeBlocking = () -> null;

  @FunctionalInterface
  interface Call<T> {
    T run() throws MPIException;
  }

  MpiCalls(Watchdog watchdog) {
    this.watchdog = watchdog;
    watchdog.start();
  }

  /**
   * Calls MPI once no other thread does.
   *
   * @param what name of the call in messages
   * @param patience longest time that other threads may occupy MPI
   * @param limit longest time that the call may block
   * @throws DeadlineExceededException if other threads occupy MPI too long
   * @throws DDStoreException on an error of MPI, or if MPI was finalised, because the call would
   *     then end the process
   */
  <T> T call(String what, Duration patience, Duration limit, Call<T> call) {
    occupy(what, patience);
    watchdog.begin(what, limit);
    try {
      if (isFinalized()) {
        throw new DDStoreException(what + ": MPI was finalised in this JVM");
      }
      return call.run();
    } catch (MPIException e) {
      throw explained(what, e);
    } finally {
      watchdog.end();
      lock.unlock();
    }
  }

  /**
   * Calls MPI as above, for calls that block until other ranks have called as well: first runs the
   * action of {@link #setBeforeBlocking}, because the other ranks may need it.
   *
   * @param limit longest time that other threads may occupy MPI, and that the call may block
   */
  <T> T meet(String what, Duration limit, Call<T> call) {
    return call(
        what,
        limit,
        limit,
        () -> {
          beforeBlocking.run();
          return call.run();
        });
  }

  /** Sets the action that passes all queued messages to MPI before this process blocks in it. */
  void setBeforeBlocking(Call<?> sending) {
    beforeBlocking = sending;
  }

  /** Lets MPI serve others, unless another thread is in it anyway. */
  void progress(Call<?> call, Duration limit) {
    if (lock.tryLock()) {
      watchdog.begin("progress", limit);
      try {
        if (!isFinalized()) {
          call.run();
        }
      } catch (MPIException e) {
        throw explained("progress", e);
      } finally {
        watchdog.end();
        lock.unlock();
      }
    }
  }

  /** Calls MPI for the last time: no other call is allowed afterwards. */
  void last(String what, Duration limit, Call<?> call) {
    occupy(what, limit);
    watchdog.begin(what, limit);
    try {
      call.run();
    } catch (MPIException e) {
      throw explained(what, e);
    } finally {
      watchdog.end();
    }
  }

  /** A failed read of memory of a process is often the first sign that it has ended. */
  private DDStoreException explained(String what, MPIException e) {
    DDStoreException failure = failure(what, e);
    watchdog.end(); // the call has returned; what follows is not its time
    if (!watchdog.awaitLoss()) {
      return failure;
    }
    FrozenMembershipException lost = World.lost(what);
    lost.addSuppressed(failure);
    return lost;
  }

  private void occupy(String what, Duration patience) {
    boolean interrupted = false;
    long deadlineNs = System.nanoTime() + patience.toNanos();
    try {
      while (true) {
        try {
          if (lock.tryLock(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            return;
          }
          throw new DeadlineExceededException(
              "%s: other threads occupied MPI for %d ms".formatted(what, patience.toMillis()));
        } catch (InterruptedException e) {
          interrupted = true; // the call in progress ends, and the caller checks the flag
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns whether MPI has been finalised in this JVM. Does not block. */
  static boolean isFinalized() {
    try {
      return MPI.isFinalized();
    } catch (MPIException e) {
      throw failure("MPI_Finalized", e);
    }
  }

  static DDStoreException failure(String what, MPIException e) {
    return new DDStoreException(
        "%s: MPI error %d, class %d: %s"
            .formatted(what, e.getErrorCode(), e.getErrorClass(), e.getMessage()),
        e);
  }
}
