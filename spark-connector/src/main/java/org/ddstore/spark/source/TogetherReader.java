package org.ddstore.spark.source;

import java.util.Arrays;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.types.ReadPath;

/**
 * Reads rows by their indices, many at once, into one batch that is used again: as many as have
 * {@link #BATCH_BYTES}, however large single rows are. One thread.
 */
final class TogetherReader implements AutoCloseable {
  private static final long BATCH_BYTES = 8L << 20;
  private static final int MOST_ROWS = 1 << 15;

  private final Variable variable;
  private final int firstRows;
  private int mostRows;
  private final ReadCounts counts;
  private final int[] fields;
  private Reader reader;
  private Batch batch;
  private boolean closed;

  /**
   * @param bytesPerRow of a record, about
   * @param counts that get what is read
   * @param fields those of the schema that are read
   */
  TogetherReader(Variable variable, double bytesPerRow, ReadCounts counts, int... fields) {
    this.variable = variable;
    this.firstRows = (int) Math.max(1, Math.min(MOST_ROWS, BATCH_BYTES / Math.max(1, bytesPerRow)));
    this.mostRows = firstRows;
    this.counts = counts;
    this.fields = fields;
  }

  /** How many rows should be read at once. */
  int mostRows() {
    return mostRows;
  }

  /** How many rows the last call has read. */
  int rows() {
    return batch.rows();
  }

  /**
   * As many of the rows, from the first on, as have {@link #BATCH_BYTES}, at least one. Valid until
   * the next call.
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
    fill(indices);
    ReadStatistics[] after = statistics();
    long bytes = 0;
    for (ReadPath path : ReadPath.values()) {
      int i = path.index();
      long ofPath = after[i].bytes() - before[i].bytes();
      counts.add(path, after[i].rows() - before[i].rows(), ofPath);
      bytes += ofPath;
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

  /** Rows here may be larger or smaller than the mean. */
  private void adapt(int asked, long bytes) {
    if (rows() < asked) {
      mostRows = rows();
    } else if (asked == mostRows && 2 * bytes < BATCH_BYTES) {
      mostRows = Math.min(2 * mostRows, firstRows);
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
    return "TogetherReader[%s]".formatted(variable);
  }
}
