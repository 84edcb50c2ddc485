// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.Serializable;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.ingest.RowBlocks;
import org.ddstore.spark.task.PartitionJob;
import org.ddstore.types.DDStoreException;

/** A barrier stage over the rows of an RDD. */
public final class BarrierStage {
  private BarrierStage() {}

  /** The work of a task on the rows of its partition. */
  public interface TaskBody<T> extends Serializable {
    T run(Iterator<InternalRow> rows) throws Exception;
  }

  /**
   * Runs one task per partition, all at the same time, and returns their results by partition.
   * Blocks until all have ended or one has failed.
   */
  public static <T> List<T> run(RDD<InternalRow> rows, TaskBody<T> body) {
    return stage(rows, body).run();
  }

  private static <T> PartitionJob<T> stage(RDD<InternalRow> rows, TaskBody<T> body) {
    return PartitionJob.barrier(rows, partition -> body.run(RowBlocks.asJava(partition)));
  }

  /**
   * Waits until one task per partition can run at the same time.
   *
   * @return false if that was impossible until the timeout, or a task failed
   * @throws DDStoreException if the thread is interrupted
   */
  public static boolean awaitSlots(RDD<InternalRow> partitions, Duration timeout) {
    try {
      stage(partitions, rows -> rows.hasNext()).run(timeout);
      return true;
    } catch (TimeoutException | ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for slots", e);
    }
  }
}
