// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.ingest.SliceRdd.Slice;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.types.DDStoreException;

/**
 * An open scan of one partition of a source, with its share of {@link ScanMemory}. Closing it frees
 * the buffers of the source's readers, also if rows are left. For the thread of the task.
 */
final class SliceScan implements AutoCloseable {
  private final ScanMemory.Share memory;
  private final SliceContext context;
  private final RowReader reader;

  private SliceScan(ScanMemory.Share memory, SliceContext context, RowReader reader) {
    this.memory = memory;
    this.context = context;
    this.reader = reader;
  }

  /**
   * Waits for memory, then opens the scan from the first row of the partition.
   *
   * @param slice slice whose partition is read
   */
  static SliceScan open(
      RDD<?> source, RowReader.Format format, int fields, Slice slice, TaskContext task) {
    ScanMemory.Share memory = take(slice, task);
    SourcePartition partition = slice.source();
    SliceContext context = new SliceContext(task);
    boolean isOpen = false;
    try {
      SliceScan scan =
          new SliceScan(
              memory,
              context,
              format.open(elements(source, partition, context), fields, partition));
      isOpen = true;
      return scan;
    } finally { // not catch: Spark throws checked exceptions that it does not declare
      if (!isOpen) {
        close(context, memory);
      }
    }
  }

  private static ScanMemory.Share take(Slice slice, TaskContext task) {
    ScanMemory.Share memory;
    try {
      memory = ScanMemory.ofProcess().take(slice.scanBytes());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      task.killTaskIfInterrupted(); // throws if Spark has interrupted it
      throw new DDStoreException(
          "interrupted while %s waited for memory to be read".formatted(slice.source().place()), e);
    }
    if (task.isInterrupted()) { // Spark may end a task without an interrupt of its thread
      memory.close();
      task.killTaskIfInterrupted();
    }
    return memory;
  }

  private static scala.collection.Iterator<?> elements(
      RDD<?> source, SourcePartition partition, SliceContext context) {
    context.enter();
    try {
      return context.elements(source.iterator(partition.partition(), context.scan()));
    } catch (Exception e) {
      if (partition.isStored() && e instanceof SparkException) {
        throw new SourceChangedException(
            "rows of %s cannot be read because the executor that stored them is lost: plan the load again"
                .formatted(partition.place()),
            e);
      }
      throw e;
    } finally {
      context.leave();
    }
  }

  RowReader reader() {
    return reader;
  }

  @Override
  public void close() {
    close(context, memory);
  }

  private static void close(SliceContext context, ScanMemory.Share memory) {
    try {
      context.end();
    } finally {
      memory.close();
    }
  }
}
