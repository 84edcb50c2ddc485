// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.ddstore.types.DDStoreException;

/**
 * A runner for work that an interrupt must not stop half-way, because the other ranks would wait in
 * MPI for a missing rank. The work has deadlines of its own.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * Runs the work on a new thread. Blocks; an interrupt is restored afterwards.
   *
   * @param thread name of the thread
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
