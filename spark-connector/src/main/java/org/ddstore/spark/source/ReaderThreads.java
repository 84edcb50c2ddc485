package org.ddstore.spark.source;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The threads that read the batches of one scan. Spark also hands the rows of a task to threads
 * that outlive it: the writer thread of a TRANSFORM script, of a Python UDF before Spark 4, of
 * {@code RDD.pipe}. The memory of the batches stays valid until all of them have ended.
 *
 * <p>Every batch refers to this object through its {@link Places}, so a thread that does not end,
 * as one of a pool, holds the memory only as long as it holds a batch or the reader. Any thread.
 */
final class ReaderThreads {
  private static final long CHECK_MS = TimeUnit.SECONDS.toMillis(1);

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private volatile Thread latest;
  private boolean hasEnded; // guarded by this

  /**
   * Adds the calling thread. Called before it reads an address of a batch that another thread has
   * asked for, and whenever it asks for a batch.
   *
   * @throws IllegalStateException if the task has ended, and the thread is not yet one of these
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
   * As {@link #enter()}, for a thread that asks for the next batch.
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
        "closed: a scan of a store has no rows after the end of its task");
  }

  /** Runs an action if no other thread may have a batch in use. None asks for one meanwhile. */
  synchronized void ifAlone(Runnable action) {
    if (others().isEmpty()) {
      action.run();
    }
  }

  /** The threads that live, but for the calling one. To be called under the lock. */
  private List<Thread> others() {
    return threads.stream()
        .filter(thread -> thread != Thread.currentThread() && thread.isAlive())
        .toList();
  }

  /**
   * Ends the scan, and runs an action when none but the calling thread can read a batch any more:
   * at once, or by a thread of its own that waits for the others. Does not block.
   *
   * @param release must not refer to this object or to batches
   */
  void end(Runnable release) {
    List<Thread> others;
    synchronized (this) {
      hasEnded = true;
      others = others();
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
        // Nobody has a reason to interrupt this thread, and the memory is still read.
      }
    }
  }
}
