package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** The same for several at the same time, by a thread for each: none waits for another. */
public final class AtOnce {
  private AtOnce() {}

  /**
   * Returns when all of it is done, and leaves no thread. An interrupt of the calling thread,
   * before or meanwhile, holds up nothing and ends nothing; its flag is set afterwards.
   *
   * @param threads their name
   * @param what comes to an end by itself, and throws nothing
   */
  public static <T> void forEach(String threads, Collection<T> all, Consumer<T> what) {
    List<Thread> started = new ArrayList<>();
    try {
      for (T one : all) {
        Thread thread = new Thread(() -> what.accept(one), threads);
        thread.setDaemon(true);
        thread.start();
        started.add(thread);
      }
    } finally {
      awaitAll(started);
    }
  }

  private static void awaitAll(List<Thread> threads) {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
