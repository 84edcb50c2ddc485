// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The threads that read the batches of one scan. Spark also passes the rows of a task to threads
 * that outlive it: the writer threads of a TRANSFORM script, of a Python UDF before Spark 4, and of
 * {@code RDD.pipe}. The memory of the batches stays valid until all of these threads have ended.
 *
 * <p>Each batch refers to this object through its {@link Places}, so a thread that does not end,
 * such as a pool thread, keeps the memory only while it holds a batch or the reader. Thread-safe.
 */
final class ReaderThreads {
  private static final long CHECK_MS = TimeUnit.SECONDS.toMillis(1);

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private volatile Thread latest;
  private boolean hasEnded; // guarded by this

  /**
   * Adds the calling thread. Call before reading an address of a batch requested by another thread,
   * and before each request for a batch.
   *
   * @throws IllegalStateException if the task has ended and the thread was not added before
   */
  void enter() {
    Thread current = Thread.currentThread();
    if (latest != current) {
      synchronized (this) {
        if (hasEnded && !threads.contains(current)) {
          throw ended();
        }
        threads.add(current);
        latest = current;
      }
    }
  }

  /**
   * Adds the calling thread like {@link #enter()}, before it requests the next batch.
   *
   * @throws IllegalStateException if the task has ended
   */
  synchronized void enterNext() {
    if (hasEnded) {
      throw ended();
    }
    enter();
  }

  private static IllegalStateException ended() {
    return new IllegalStateException(
        "closed: a scan of a store cannot be read after the end of its task");
  }

  /** Runs an action unless another thread can use a batch; blocks requests meanwhile. */
  synchronized void ifAlone(Runnable action) {
    if (otherThreads().isEmpty()) {
      action.run();
    }
  }

  /** Returns the live threads except the calling one. The caller must hold the lock. */
  private List<Thread> otherThreads() {
    return threads.stream()
        .filter(thread -> thread != Thread.currentThread() && thread.isAlive())
        .toList();
  }

  /**
   * Ends the scan, and runs an action once no other thread can read a batch: immediately, or on a
   * separate thread that waits for the others. Does not block.
   *
   * @param release action to run; must not refer to this object or to batches
   */
  void end(Runnable release) {
    List<Thread> others;
    synchronized (this) {
      hasEnded = true;
      others = otherThreads();
    }
    if (others.isEmpty()) {
      release.run();
    } else {
      WeakReference<ReaderThreads> batches = new WeakReference<>(this);
      Thread waiting =
          new Thread(
              () -> {
                others.forEach(thread -> await(thread, batches));
                release.run();
              },
              "ddstore-scan-end");
      waiting.setDaemon(true);
      waiting.start();
    }
  }

  private static void await(Thread thread, WeakReference<?> batches) {
    while (thread.isAlive() && batches.get() != null) {
      try {
        thread.join(CHECK_MS);
      } catch (InterruptedException e) {
        // Ignored, because the memory is still being read.
      }
    }
  }
}
