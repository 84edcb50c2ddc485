// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.DeadlineExceededException;

/** The threads of one rank that write chunks and publish checkpoints. */
final class SaveThreads implements AutoCloseable {
  private static final long IDLE_S = 60;
  private static final long END_S = 10;

  private final Set<Thread> started = ConcurrentHashMap.newKeySet();
  private final ThreadPoolExecutor writers;
  private final ThreadPoolExecutor publisher;

  SaveThreads(int writers) {
    this.writers = pool(writers, "ddstore-checkpoint-writer");
    this.publisher = pool(1, "ddstore-checkpoint-publisher");
  }

  private ThreadPoolExecutor pool(int threads, String name) {
    ThreadFactory factory =
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          started.removeIf(other -> other.getState() == Thread.State.TERMINATED);
          started.add(thread);
          return thread;
        };
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads, threads, IDLE_S, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  ExecutorService writers() {
    return writers;
  }

  ExecutorService publisher() {
    return publisher;
  }

  /**
   * Interrupts the threads and waits until they end.
   *
   * @throws DeadlineExceededException if the storage keeps one for 10 seconds
   */
  @Override
  public void close() {
    publisher.shutdownNow();
    writers.shutdownNow();
    boolean interrupted = Thread.interrupted(); // they were interrupted, so this is short
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_S);
      for (Thread thread : started) {
        thread.join(1 + Math.max(0, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        if (thread.isAlive()) {
          throw new DeadlineExceededException(
              "a write of a checkpoint did not end within %d s of its interrupt: the storage does not respond"
                  .formatted(END_S));
        }
      }
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
