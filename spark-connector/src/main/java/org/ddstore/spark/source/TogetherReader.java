package org.ddstore.spark.source;

import java.util.Arrays;
import org.ddstore.Batch;
import org.ddstore.BatchTooLargeException;
import org.ddstore.ReadPath;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Variable;

/** Reads rows by their indices, many at once, into one batch that is used again. One thread. */
final class TogetherReader implements AutoCloseable {
  private static final long BATCH_BYTES = 8L << 20;
  private static final int MOST_ROWS = 1 << 15;

  private final Variable variable;
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
    this.mostRows = (int) Math.max(1, Math.min(MOST_ROWS, BATCH_BYTES / Math.max(1, bytesPerRow)));
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
   * As many of the rows, from the first on, as come together: all, unless they are so large that a
   * batch cannot hold them. Valid until the next call.
   *
   * @throws BatchTooLargeException if it cannot hold the first one alone
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
    if (bytes > 2 * BATCH_BYTES) { // rows here are larger than the mean
      mostRows = (int) Math.max(1, Math.min(mostRows, BATCH_BYTES * rows() / bytes));
    }
    return new TensorPlaces(batch);
  }

  private void fill(long... indices) {
    long[] some = indices;
    while (true) {
      try {
        if (batch == null) {
          batch = reader.getBatch(some);
        } else {
          reader.getBatch(batch, some);
        }
        return;
      } catch (BatchTooLargeException e) {
        if (some.length == 1) {
          throw e;
        }
        some = Arrays.copyOf(some, some.length / 2);
      }
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
