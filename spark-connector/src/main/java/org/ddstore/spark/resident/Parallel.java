// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** Concurrent execution of an action for several elements, each in its own thread. */
public final class Parallel {
  private Parallel() {}

  /**
   * Runs an action for each element in a separate thread, and waits until all threads have ended.
   * An interrupt of the calling thread neither delays nor stops the actions; its flag is set
   * afterwards.
   *
   * @param what action that ends by itself and throws no exception
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
