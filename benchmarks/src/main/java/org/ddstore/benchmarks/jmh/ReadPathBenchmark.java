// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.ReadPath;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The inner parts of a training step: 64 random rows of 256 bytes out of 1 MiB in the memory of
 * this process as a batch, one such row, the rows that a sampler chooses for a batch, and what a
 * reader does to count a batch. With {@code -prof gc} also the bytes that each allocates.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ReadPathBenchmark {
  private static final int ROWS = 4096;
  private static final int COLUMNS = 64;
  private static final int BATCH_ROWS = 64;
  private static final int BATCHES = 256; // a power of two
  private static final MethodHandle NEW;
  private static final MethodHandle BEGIN;
  private static final MethodHandle ADD;
  private static final MethodHandle END;

  static {
    try {
      Class<?> counters = Class.forName("org.ddstore.ReadCounters"); // not public
      Lookup in = MethodHandles.privateLookupIn(counters, MethodHandles.lookup());
      NEW = generic(in.findConstructor(counters, MethodType.methodType(void.class)));
      BEGIN = generic(in.findVirtual(counters, "begin", MethodType.methodType(long.class)));
      ADD =
          generic(
              in.findVirtual(
                  counters, "add", MethodType.methodType(void.class, int.class, long.class)));
      END =
          generic(
              in.findVirtual(
                  counters,
                  "end",
                  MethodType.methodType(void.class, long.class, long.class, long.class)));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long[][] indices = new long[BATCHES][BATCH_ROWS];
  private Communicator alone;
  private DDStore store;
  private Reader reader;
  private Batch batch;
  private final Tensor destination = Tensor.wrap(new float[COLUMNS], 1, COLUMNS);
  private final long[] chosen = new long[BATCH_ROWS];
  private final EpochBatches epoch =
      Samplers.shuffled(42).batchSize(BATCH_ROWS).epoch(1_000_000_000, new WorldRank(0, 1), 0);
  private Object counters;
  private int next;

  /** Takes and returns the counters as an object, because their type is not visible here. */
  private static MethodHandle generic(MethodHandle method) {
    MethodType type = method.type();
    return method.asType(
        type.parameterCount() == 0
            ? type.changeReturnType(Object.class)
            : type.changeParameterType(0, Object.class));
  }

  /** Loads the rows and draws the indices. */
  @Setup(Level.Trial)
  public void load() throws Throwable {
    alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
    store = DDStore.open(alone, StoreOptions.defaults());
    reader = store.add("x", Tensor.wrap(new float[ROWS * COLUMNS], ROWS, COLUMNS)).reader();
    batch = reader.getBatch();
    SplittableRandom random = new SplittableRandom(42);
    for (long[] rows : indices) {
      for (int i = 0; i < BATCH_ROWS; i++) {
        rows[i] = random.nextInt(ROWS);
      }
    }
    counters = NEW.invoke();
  }

  @TearDown(Level.Trial)
  public void close() {
    batch.close();
    reader.close();
    store.close();
    alone.close();
  }

  /** Measures the read of a batch, counters included. */
  @Benchmark
  public Batch batch() {
    next = (next + 1) & (BATCHES - 1);
    reader.getBatch(batch, indices[next]);
    return batch;
  }

  /** Measures the read of one row into an array. */
  @Benchmark
  public Tensor row() {
    next = (next + 1) & (BATCHES - 1);
    reader.get(destination, indices[next][0]);
    return destination;
  }

  /** Measures the choice of the rows of a batch in shuffled order. */
  @Benchmark
  public long[] sample() {
    next = (next + 1) & (BATCHES - 1);
    epoch.fill(next % epoch.batches(), chosen);
    return chosen;
  }

  /** Measures the counters of a batch alone. */
  @Benchmark
  public Object counters() throws Throwable {
    long start = (long) BEGIN.invokeExact(counters);
    ADD.invokeExact(counters, ReadPath.OWN_PROCESS.index(), (long) BATCH_ROWS);
    END.invokeExact(counters, start, (long) BATCH_ROWS, (long) BATCH_ROWS * COLUMNS * Float.BYTES);
    return counters;
  }
}
