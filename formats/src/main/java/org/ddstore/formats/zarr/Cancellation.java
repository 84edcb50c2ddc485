// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.InterruptedIOException;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;

/** The end of a loop over many small files when its task is killed or its thread interrupted. */
final class Cancellation {
  private Cancellation() {}

  /**
   * Returns if the work is to go on.
   *
   * @throws TaskKilledException if the task of this thread is killed
   * @throws InterruptedIOException if the thread is interrupted
   */
  static void check() throws InterruptedIOException {
    TaskContext task = TaskContext.get();
    if (task != null && task.isInterrupted()) {
      throw new TaskKilledException("killed while it read zarr");
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while it read zarr");
    }
  }
}
