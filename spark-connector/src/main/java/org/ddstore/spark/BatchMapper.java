// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.util.function.Consumer;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;

/**
 * The mapper of one task of {@link ResidentStore#map}: makes rows of batches, one batch after the
 * other. Used by one thread at a time.
 */
@FunctionalInterface
public interface BatchMapper extends AutoCloseable {
  /**
   * Makes rows of one batch, any number of them. A task that Spark repeats calls it again for the
   * same rows.
   *
   * @param batch consecutive rows of the store with all fields; closed after the call
   * @param firstRow global index of the first row of the batch
   * @param output receives the rows, with the columns of the schema that was given to {@link
   *     ResidentStore#map}, in their order; used during the call only
   * @throws Exception to fail the task, which Spark then repeats like any task
   */
  void map(Batch batch, long firstRow, Consumer<Row> output) throws Exception;

  /**
   * Frees what the mapper holds. Does nothing by default.
   *
   * @throws IOException to fail the task
   */
  @Override
  default void close() throws IOException {}
}
