package org.ddstore.mpi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/**
 * All calls of MPI in this JVM: one at a time, because the component for TCP allows no more, and
 * each watched.
 */
final class MpiCalls {
  private final ReentrantLock lock = new ReentrantLock();
  private final Watchdog watchdog;
  private volatile Call<?> beforeMeetings = () -> null;

  /** Calls MPI. */
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
   * @param what for messages
   * @param patience how long other threads may hold MPI
   * @param limit how long the call may block
   * @throws DeadlineExceededException if others hold MPI too long
   * @throws DDStoreException what MPI says, or if MPI was finalised: it would end the process
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
      throw failure(what, e);
    } finally {
      watchdog.end();
      lock.unlock();
    }
  }

  /**
   * As above, for what blocks until other ranks have called it as well: they may have to get what
   * {@link #setBeforeMeetings} is there for first.
   *
   * @param limit how long other threads may hold MPI, and how long the call may block
   */
  <T> T meet(String what, Duration limit, Call<T> call) {
    return call(
        what,
        limit,
        limit,
        () -> {
          beforeMeetings.run();
          return call.run();
        });
  }

  /** What gives to MPI all that this process has said before it is held up for long. */
  void setBeforeMeetings(Call<?> sending) {
    beforeMeetings = sending;
  }

  /** Gives MPI the opportunity to serve others, if no thread is in it anyway. */
  void progress(Call<?> call, Duration limit) {
    if (lock.tryLock()) {
      watchdog.begin("progress", limit);
      try {
        if (!isFinalized()) {
          call.run();
        }
      } catch (MPIException e) {
        throw failure("progress", e);
      } finally {
        watchdog.end();
        lock.unlock();
      }
    }
  }

  /** Calls MPI for the last time: no other call gets in afterwards. */
  void last(String what, Duration limit, Call<?> call) {
    occupy(what, limit);
    watchdog.begin(what, limit);
    try {
      call.run();
    } catch (MPIException e) {
      throw failure(what, e);
    } finally {
      watchdog.end();
    }
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
              "%s: other threads were in MPI for %d ms".formatted(what, patience.toMillis()));
        } catch (InterruptedException e) {
          interrupted = true; // the call that is under way ends, and the caller looks
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether somebody has ended MPI in this JVM. Does not block. */
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
