// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;

/** A reader of one file of all rows, which each rank maps and copies row by row into batches. */
final class MappedEpochs extends EpochReader {
  private static final long MAX_PART_BYTES = 1 << 30;

  private final int rowBytes;
  private final int partRows;
  private final List<MappedRegion> parts = new ArrayList<>();
  private final OffHeapBuffer batch;

  /** Maps the file into which each rank has written its rows. */
  MappedEpochs(EpochPlan plan, int rank, int rowBytes) throws IOException {
    super(plan, rank, EpochWay.MAPPED);
    this.rowBytes = rowBytes;
    this.partRows = (int) (MAX_PART_BYTES / rowBytes);
    this.batch = OffHeapBuffer.allocate((long) plan.batch() * rowBytes);
    try (FileChannel channel = FileChannel.open(file(plan, rowBytes), StandardOpenOption.READ)) {
      for (long first = 0; first < plan.rows(); first += partRows) {
        long bytes = Math.min(partRows, plan.rows() - first) * rowBytes;
        parts.add(
            MappedRegion.map(channel, FileChannel.MapMode.READ_ONLY, first * rowBytes, bytes));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private static Path file(EpochPlan plan, int rowBytes) {
    return Path.of(plan.directory(), rowBytes + ".rows");
  }

  static void write(EpochPlan plan, int rank, PatternRows pattern) throws IOException {
    int rowBytes = pattern.rowBytes();
    try (FileChannel channel =
        FileChannel.open(
            file(plan, rowBytes), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int row = plan.firstRow(rank); row < plan.firstRow(rank + 1); row++) {
        ByteBuffer bytes = ByteBuffer.wrap(pattern.row(row));
        while (bytes.hasRemaining()) {
          channel.write(bytes, (long) row * rowBytes + bytes.position());
        }
      }
    }
  }

  @Override
  void read(Consumer consumer) {
    ByteBuffer target = batch.buffer();
    for (int number = 0; number < order.length; number++) {
      long[] rows = order[number];
      for (int i = 0; i < rows.length; i++) {
        ByteBuffer part = parts.get((int) (rows[i] / partRows)).buffer();
        target.put(i * rowBytes, part, (int) (rows[i] % partRows) * rowBytes, rowBytes);
      }
      consumer.take(number, target);
    }
  }

  @Override
  public void close() {
    parts.forEach(MappedRegion::close);
    batch.close();
  }
}
