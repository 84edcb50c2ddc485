// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.Serializable;

/**
 * A function that opens a {@link BatchMapper} for {@link ResidentStore#map}. It is sent to the
 * executors, so the function and the objects that it captures must be serializable; what the mapper
 * needs beside them, such as a model, is created by {@link #open()}.
 */
@FunctionalInterface
public interface BatchFunction extends Serializable {
  /**
   * Opens the mapper of one task. Called once per attempt of a task that has rows, in its executor.
   *
   * @return the mapper; the task closes it at its end, also after a failure
   * @throws Exception to fail the task, which Spark then repeats like any task
   */
  BatchMapper open() throws Exception;
}
