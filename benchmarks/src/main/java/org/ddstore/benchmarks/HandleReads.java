// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.types.DType;
import org.ddstore.types.ReadPath;

/**
 * The reads in Java that {@link PythonBench} compares with, in a JVM of their own, which knows the
 * handle only. Destinations are reused. The requests and replies are those of {@code
 * bench_python.py}.
 */
final class HandleReads implements AutoCloseable {
  static final String FIELD = "x";
  static final int FLOATS = 64;
  static final String COLUMNS = "columns";
  static final String DATA = "data";

  private static final int ROW_BYTES = FLOATS * Float.BYTES;

  /** Batches, or thousands of single rows, between two looks at the clock. */
  private static final int ROUND = 16;

  private static final int CHECKED = 4;

  private final StoreReader dense;
  private final StoreReader sparse;
  private final Reader denseRows;
  private final Reader sparseRows;
  private final OffHeapBuffer memory = OffHeapBuffer.allocate(ROW_BYTES);
  private final ByteBuffer rowBytes = memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
  private final Tensor row = Tensor.wrap(DType.FLOAT32, rowBytes, 1, FLOATS);
  private final int batchRows;
  private final long rows;
  private final SplittableRandom random = new SplittableRandom(7);
  private long mismatches;

  private HandleReads(Path dense, Path sparse, int batchRows) throws IOException {
    this.dense = StoreHandle.read(dense).attach();
    this.sparse = StoreHandle.read(sparse).attach();
    this.denseRows = this.dense.rows().reader(FIELD);
    this.sparseRows = this.sparse.rows().reader(COLUMNS, DATA);
    this.batchRows = batchRows;
    this.rows = this.dense.rows().rows();
  }

  /**
   * Reads on demand: a line names a way and its seconds, the answer is the time per row in us.
   *
   * @param arguments the files of the handles of the rows and of the sparse rows, and the rows per
   *     batch
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err);
    try (HandleReads reads =
        new HandleReads(
            Path.of(arguments[0]), Path.of(arguments[1]), Integer.parseInt(arguments[2]))) {
      out.println(reads.path().name());
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        reads.mismatches = 0;
        double micros = reads.turn(words[0], Double.parseDouble(words[1]));
        out.println(micros + " " + reads.mismatches);
      }
    }
  }

  /** Returns how a batch was read. */
  private ReadPath path() {
    denseRows.getBatch(draw(batchRows)).close();
    return dense.rows().statistics().stream()
        .filter(path -> path.rows() > 0)
        .map(ReadStatistics::path)
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Returns the microseconds per row. */
  private double turn(String way, double seconds) {
    if (way.equals(PythonWay.JAVA_ROW.toString())) {
      for (int i = 0; i < CHECKED; i++) {
        long index = random.nextLong(rows);
        denseRows.get(row, index);
        check(index, rowBytes, 0);
      }
      return timed(seconds, this::singleRows, ROUND * 1000);
    }
    boolean isSparse = way.equals(PythonWay.JAVA_SPARSE.toString());
    Reader reader = isSparse ? sparseRows : denseRows;
    try (Batch batch = reader.getBatch(draw(batchRows))) {
      for (int i = 0; i < CHECKED; i++) {
        long[] indices = draw(batchRows);
        reader.getBatch(batch, indices);
        if (isSparse) {
          checkSparse(batch, indices);
        } else {
          ByteBuffer bytes = bytes(batch.field(FIELD));
          for (int r = 0; r < indices.length; r++) {
            check(indices[r], bytes, r * ROW_BYTES);
          }
        }
      }
      return timed(seconds, () -> batches(reader, batch), ROUND * batchRows);
    }
  }

  private static ByteBuffer bytes(Tensor tensor) {
    return tensor.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private interface Round {
    long nanos();
  }

  private static double timed(double seconds, Round round, int roundRows) {
    long nanos = 0;
    long count = 0;
    while (nanos < seconds * TimeUnit.SECONDS.toNanos(1)) {
      nanos += round.nanos();
      count += roundRows;
    }
    return nanos / 1e3 / count;
  }

  private long batches(Reader reader, Batch batch) {
    long[][] drawn = new long[ROUND][];
    for (int i = 0; i < ROUND; i++) {
      drawn[i] = draw(batchRows);
    }
    long start = System.nanoTime();
    for (long[] indices : drawn) {
      reader.getBatch(batch, indices);
    }
    return System.nanoTime() - start;
  }

  private long singleRows() {
    long[] drawn = draw(ROUND * 1000);
    long start = System.nanoTime();
    for (long index : drawn) {
      denseRows.get(row, index);
    }
    return System.nanoTime() - start;
  }

  private long[] draw(int count) {
    return random.longs(count, 0, rows).toArray();
  }

  private void check(long index, ByteBuffer bytes, int position) {
    for (int i = 0; i < FLOATS; i++) {
      if (bytes.getFloat(position + i * Float.BYTES) != (float) (index + i + 1)) {
        mismatches++;
        return;
      }
    }
  }

  /** Compares sparse rows with those of {@link PythonBench}. */
  private void checkSparse(Batch batch, long... indices) {
    ByteBuffer columns = bytes(batch.field(COLUMNS));
    ByteBuffer data = bytes(batch.field(DATA));
    ByteBuffer offsets = bytes(batch.offsets(DATA));
    for (int r = 0; r < indices.length; r++) {
      long first = offsets.getLong(r * Long.BYTES);
      long count = offsets.getLong((r + 1) * Long.BYTES) - first;
      boolean isEqual = count == 16 + indices[r] % 33;
      for (int k = 0; k < count && isEqual; k++) {
        int position = (int) (first + k) * Float.BYTES;
        isEqual =
            columns.getInt(position) == k * 61L + indices[r] % 61
                && data.getFloat(position) == (float) (indices[r] + k);
      }
      mismatches += isEqual ? 0 : 1;
    }
  }

  @Override
  public void close() {
    try (dense;
        sparse;
        denseRows;
        sparseRows) {
      memory.close();
    }
  }
}
