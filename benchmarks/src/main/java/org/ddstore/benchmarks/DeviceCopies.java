// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.DeviceStream;
import org.ddstore.memory.Devices;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * Copies of a loader's batch to a device, from memory that is pinned and from memory that is not,
 * in turns. Each copy is complete before the next begins.
 */
final class DeviceCopies implements AutoCloseable {
  private static final String FIELD = "values";
  private static final String ROWS = "rows";
  private static final int ROW_BYTES = 1 << 16;
  private static final double WARM_UP = 0.3;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  /**
   * The times of one size.
   *
   * @param batchBytes size of the batch in bytes
   * @param memory {@code pinned} or {@code pageable}
   * @param gbPerSecond rate of the median copy, in 10^9 bytes per second
   * @param callMicros median time in microseconds for which the call blocks its thread
   * @param ratioToPageable rate divided by that of pageable memory
   */
  record Result(
      long batchBytes,
      String memory,
      double gbPerSecond,
      double callMicros,
      double ratioToPageable) {}

  /** A batch on the host, with the times of its copies. */
  private static final class Source {
    private final ByteBuffer bytes;
    private final DescriptiveStatistics copyNanos = new DescriptiveStatistics();
    private final DescriptiveStatistics callNanos = new DescriptiveStatistics();

    Source(LoadedBatch batch) {
      this.bytes = batch.field(FIELD).asByteBuffer();
    }

    void copy(DeviceStream stream, long target, boolean isCounted) {
      long start = System.nanoTime();
      stream.copyIn(target, bytes);
      long called = System.nanoTime();
      stream.synchronize();
      long end = System.nanoTime();
      if (isCounted) {
        callNanos.addValue((double) (called - start));
        copyNanos.addValue((double) Math.max(1, end - start));
      }
    }

    double gbPerSecond() {
      return bytes.limit() / copyNanos.getPercentile(50);
    }

    Result result(String memory, double pageable) {
      return new Result(
          bytes.limit(),
          memory,
          gbPerSecond(),
          callNanos.getPercentile(50) / 1e3,
          gbPerSecond() / pageable);
    }
  }

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final DeviceStream stream;
  private final Loader pinned;
  private final Loader pageable;
  private final long batchBytes;
  private long mismatches;

  /**
   * Loads the rows of one batch.
   *
   * @param device number of the device
   * @param batchBytes size of a batch in bytes, a multiple of 65,536
   */
  DeviceCopies(int device, long batchBytes) {
    this.batchBytes = batchBytes;
    try {
      Communicator alone = own(LocalGroup.create(1, TIMEOUT).get(0));
      StoreOptions direct = StoreOptions.defaults().backing(Backing.DIRECT);
      DDStore store = own(DDStore.open(alone, direct));
      store.add(ROWS, rows(direct));
      LoaderOptions options = LoaderOptions.defaults().depth(1).maxBytes(1L << 40);
      this.pinned = own(open(store, options.device(device)));
      this.pageable = own(open(store, options.pinnedMemory(false)));
      this.stream = own(Devices.openStream(device));
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(this::close));
      throw e;
    }
  }

  private <T extends AutoCloseable> T own(T created) {
    opened.add(0, created);
    return created;
  }

  private ShardWriter rows(StoreOptions options) {
    ShardWriter rows =
        ShardWriter.create(Schema.of(Field.fixed(FIELD, DType.UINT8, ROW_BYTES)), options);
    byte[] row = new byte[ROW_BYTES];
    for (int i = 0; i < batchBytes / ROW_BYTES; i++) {
      for (int k = 0; k < ROW_BYTES; k++) {
        row[k] = (byte) (i * 31 + k * 7);
      }
      rows.append((Object) row);
    }
    return rows;
  }

  private Loader open(DDStore store, LoaderOptions options) {
    return Loader.open(
        store.variable(ROWS),
        Samplers.shuffled(1).batchSize((int) (batchBytes / ROW_BYTES)),
        new WorldRank(0, 1),
        options);
  }

  /** Returns the driver that pins the memory, or why it is not pinned. */
  String hostMemory() {
    return pinned.hostMemory();
  }

  /** Measures both kinds of memory in turns. Blocks for about the given time. */
  List<Result> measure(double seconds) {
    pinned.epoch(0);
    pageable.epoch(0);
    long target = stream.allocate(batchBytes);
    try (LoadedBatch pinnedBatch = pinned.pop(TIMEOUT);
        LoadedBatch pageableBatch = pageable.pop(TIMEOUT)) {
      Source fast = new Source(pinnedBatch);
      Source plain = new Source(pageableBatch);
      long start = System.nanoTime();
      long warm = start + (long) (WARM_UP * seconds * TimeUnit.SECONDS.toNanos(1));
      long end = start + (long) ((1 + WARM_UP) * seconds * TimeUnit.SECONDS.toNanos(1));
      long now = start;
      while (now < end || fast.copyNanos.getN() == 0) {
        fast.copy(stream, target, now >= warm);
        plain.copy(stream, target, now >= warm);
        now = System.nanoTime();
      }
      fast.copy(stream, target, false);
      mismatches += check(target, fast.bytes);
      plain.copy(stream, target, false);
      mismatches += check(target, plain.bytes);
      return List.of(
          fast.result("pinned", plain.gbPerSecond()),
          plain.result("pageable", plain.gbPerSecond()));
    } finally {
      stream.free(target);
    }
  }

  /** Copies back, and returns 1 if a byte differs. */
  private long check(long target, ByteBuffer expected) {
    try (OffHeapBuffer back = OffHeapBuffer.allocate(expected.limit())) {
      stream.copyOut(back.buffer(), target);
      stream.synchronize();
      return back.buffer().mismatch(expected) < 0 ? 0 : 1;
    }
  }

  long mismatches() {
    return mismatches;
  }

  @Override
  public void close() {
    Cleanup.runAll(opened.stream().map(resource -> () -> close(resource)));
    opened.clear();
  }

  private static void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("cannot be closed: " + resource, e);
    }
  }
}
