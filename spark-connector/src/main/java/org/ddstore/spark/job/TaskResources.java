// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.device.DeviceLoader;
import org.ddstore.loader.Loader;
import org.ddstore.types.Cleanup;

/**
 * The loaders and checkpoints that a task has opened, so that none outlives the task. Thread-safe.
 */
public final class TaskResources implements AutoCloseable {
  private final Deque<Resource> newestFirst = new ArrayDeque<>();
  private boolean closed;

  private record Resource(BooleanSupplier isClosed, Runnable close) {}

  /**
   * Opens a loader that ends with the task.
   *
   * @throws IllegalStateException if the task has ended
   */
  public synchronized Loader open(Supplier<Loader> opening) {
    prepare("loader");
    Loader loader = opening.get();
    newestFirst.push(new Resource(loader::isClosed, loader::close));
    return loader;
  }

  public synchronized DeviceLoader openOnDevice(Supplier<DeviceLoader> opening) {
    prepare("loader");
    DeviceLoader loader = opening.get();
    newestFirst.push(new Resource(loader::isClosed, loader::close));
    return loader;
  }

  /**
   * Opens checkpoints that end with the task. Collective.
   *
   * @throws IllegalStateException if the task has ended
   */
  public synchronized Checkpoints openCheckpoints(Supplier<Checkpoints> opening) {
    prepare("checkpoints");
    Checkpoints checkpoints = opening.get();
    newestFirst.push(new Resource(checkpoints::isClosed, checkpoints::close));
    return checkpoints;
  }

  private void prepare(String resource) {
    if (closed) {
      throw new IllegalStateException(
          "closed: the task that would own the %s has ended".formatted(resource));
    }
    newestFirst.removeIf(open -> open.isClosed().getAsBoolean()); // a task may open one per epoch
  }

  /** Closes what is open, the last opened first. Blocks until all are closed. Idempotent. */
  public synchronized void closeAll() {
    closed = true;
    List<Resource> open = List.copyOf(newestFirst);
    newestFirst.clear();
    Cleanup.runAll(open.stream().map(Resource::close));
  }

  @Override
  public void close() {
    closeAll();
  }
}
