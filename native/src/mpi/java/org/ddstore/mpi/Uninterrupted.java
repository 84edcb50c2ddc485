package org.ddstore.mpi;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.ddstore.types.DDStoreException;

/**
 * Runs what an interrupt must not end half-way, because the other ranks would wait in MPI for a
 * rank that has gone. It has deadlines of its own.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * Runs the work on a thread of its own. Blocks; an interrupt is there again afterwards.
   *
   * @param thread its name
   */
  static <T> T call(String thread, Supplier<T> work) {
    FutureTask<T> task = new FutureTask<>(work::get);
    Thread worker = new Thread(task, thread);
    worker.setDaemon(true);
    worker.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          worker.join();
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      throw unchecked(e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException unchecked(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    return thrown instanceof RuntimeException e ? e : new DDStoreException("failed", thrown);
  }
}
