// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.ddstore.loader.Loader;
import org.ddstore.types.Cleanup;

/** The loaders that a task has opened, so that none outlives the task. Thread-safe. */
public final class TaskLoaders implements AutoCloseable {
  private final Deque<Loader> newestFirst = new ArrayDeque<>();
  private boolean closed;

  /**
   * Opens a loader that ends with the task.
   *
   * @throws IllegalStateException if the task has ended
   */
  public synchronized Loader open(Supplier<Loader> opening) {
    if (closed) {
      throw new IllegalStateException("closed: the task that would own the loader has ended");
    }
    newestFirst.removeIf(Loader::isClosed); // a task may open a loader per epoch
    Loader loader = opening.get();
    newestFirst.push(loader);
    return loader;
  }

  /** Closes open loaders, the last opened first. Blocks until they are closed. Idempotent. */
  public synchronized void closeAll() {
    closed = true;
    List<Loader> open = List.copyOf(newestFirst);
    newestFirst.clear();
    Cleanup.runAll(open.stream().map(loader -> loader::close));
  }

  @Override
  public void close() {
    closeAll();
  }
}
