// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.types.DType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time per row of reads of 256-byte rows through the public API: one hot row, and a random batch of
 * 1,024 rows of a shard far larger than the caches, compared with a plain copy loop over memory of
 * the same size.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class ReadBenchmark {
  private static final int ROW_FLOATS = 64;
  private static final int ROW_BYTES = ROW_FLOATS * Float.BYTES;
  private static final int BATCH = 1024;
  private static final int ROWS_EACH = 4 << 20; // 1 GiB per rank

  /** Path of the reads. */
  @Param({"own-process", "same-host"})
  public String path;

  private final SplittableRandom random = new SplittableRandom(42);
  private final long[] indices = new long[BATCH];
  private PeerProcess peer;
  private Reader reader;
  private long firstRow;
  private Tensor oneRow;
  private Tensor batch;
  private ByteBuffer copySource;
  private ByteBuffer copyTarget;

  /** Opens a store of two ranks, the second one in another JVM. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    peer = PeerProcess.start(ROWS_EACH, ROW_FLOATS);
    reader = peer.store().variable(PeerProcess.VARIABLE).reader();
    firstRow = path.equals("own-process") ? 0 : ROWS_EACH;
    oneRow = Tensor.wrap(DType.FLOAT32, ByteBuffer.allocateDirect(ROW_BYTES), 1, ROW_FLOATS);
    batch =
        Tensor.wrap(DType.FLOAT32, ByteBuffer.allocateDirect(BATCH * ROW_BYTES), BATCH, ROW_FLOATS);
    copySource = ByteBuffer.allocateDirect(1 << 30).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < copySource.capacity(); i += 4096) {
      copySource.put(i, (byte) 1);
    }
    copyTarget = ByteBuffer.allocateDirect(BATCH * ROW_BYTES);
    for (long row = 0; row < ROWS_EACH; row++) {
      reader.get(oneRow, firstRow + row); // maps every page once
    }
  }

  /** Ends the store and the second JVM. */
  @TearDown(Level.Trial)
  public void close() {
    reader.close();
    peer.close();
  }

  /** Draws new random rows; the time is included, about 2 ns for each of 1,024 draws. */
  private void draw() {
    for (int i = 0; i < BATCH; i++) {
      indices[i] = firstRow + random.nextInt(ROWS_EACH);
    }
  }

  /** Measures a read of one row that stays in the cache. */
  @Benchmark
  public Tensor hotRow() {
    reader.get(oneRow, firstRow + 4711);
    return oneRow;
  }

  /** Measures a batch of random rows of 1 GiB, read in one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public Tensor coldBatch() {
    draw();
    reader.getBatch(batch, indices);
    return batch;
  }

  /** Measures copies of as many random rows by {@code ByteBuffer.put}, the limit of plain Java. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public ByteBuffer copyLoop() {
    draw();
    for (int i = 0; i < BATCH; i++) {
      int row = (int) (indices[i] - firstRow);
      copyTarget.put(i * ROW_BYTES, copySource, row * ROW_BYTES, ROW_BYTES);
    }
    return copyTarget;
  }
}
