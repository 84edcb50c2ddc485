// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Arrays;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.types.ReadPath;

/**
 * A reader of rows by index that reads many rows per call into a reused batch, up to {@link
 * #BATCH_BYTES}, or one row if it is larger. Not thread-safe.
 */
final class BulkRowReader implements AutoCloseable {
  private static final long BATCH_BYTES = 8L << 20;
  private static final int MAX_ROWS = 1 << 15;

  private final Variable variable;
  private final int firstRows;
  private int maxRows;
  private final ReadCounts counts;
  private final int[] fields;
  private Reader reader;
  private Batch batch;
  private boolean closed;

  /**
   * @param bytesPerRow approximate size of a record in bytes
   * @param counts counters, updated by each read
   */
  BulkRowReader(Variable variable, double bytesPerRow, ReadCounts counts, int... fields) {
    this.variable = variable;
    this.firstRows = (int) Math.max(1, Math.min(MAX_ROWS, BATCH_BYTES / Math.max(1, bytesPerRow)));
    this.maxRows = firstRows;
    this.counts = counts;
    this.fields = fields;
  }

  /** Returns the recommended number of rows per read. */
  int maxRows() {
    return maxRows;
  }

  int rows() {
    return batch.rows();
  }

  /**
   * Reads rows from the first on, up to {@link #BATCH_BYTES} but at least one. The result is valid
   * until the next call.
   */
  FieldPlaces read(long... indices) {
    if (closed) {
      throw new IllegalStateException("closed: " + this);
    }
    if (reader == null) {
      reader =
          variable.reader(
              Arrays.stream(fields)
                  .mapToObj(field -> variable.schema().field(field).name())
                  .toArray(String[]::new));
    }
    ReadStatistics[] before = statistics();
    long start = System.nanoTime();
    fill(indices);
    long nanos = System.nanoTime() - start;
    ReadStatistics[] after = statistics();
    long bytes = 0;
    for (ReadPath path : ReadPath.values()) {
      int i = path.index();
      long pathBytes = after[i].bytes() - before[i].bytes();
      counts.add(path, after[i].rows() - before[i].rows(), pathBytes);
      bytes += pathBytes;
    }
    int remote = ReadPath.REMOTE.index();
    if (after[remote].rows() > before[remote].rows()) {
      counts.addWaitNanos(nanos); // copies from memory take a small part of it
    }
    adapt(indices.length, bytes);
    return new TensorPlaces(batch);
  }

  private void fill(long... indices) {
    if (batch == null) {
      batch = reader.getBatch();
    }
    reader.getBatchWithin(batch, BATCH_BYTES, indices);
  }

  /** Adapts the number of rows per read, because rows can be larger or smaller than the mean. */
  private void adapt(int requested, long bytes) {
    if (rows() < requested) {
      maxRows = rows();
    } else if (requested == maxRows && 2 * bytes < BATCH_BYTES) {
      maxRows = Math.min(2 * maxRows, firstRows);
    }
  }

  private ReadStatistics[] statistics() {
    return Arrays.stream(ReadPath.values()).map(reader::statistics).toArray(ReadStatistics[]::new);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (batch != null) {
        batch.close();
      }
      if (reader != null) {
        reader.close();
      }
    }
  }

  @Override
  public String toString() {
    return "BulkRowReader[%s]".formatted(variable);
  }
}
