// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.ddstore.memory.OffHeapBuffer;

/**
 * A reader of one file per row, a thousand per folder, each opened and read into the batch. Of more
 * rows than {@link #MAX_FILES}, it has the first ones, because writing files takes longer than
 * reading them; fewer files cost less to open.
 */
final class FileEpochs extends EpochReader {
  private static final int FOLDER_ROWS = 1000;
  private static final int MAX_FILES = 20_000;

  private final int rowBytes;
  private final OffHeapBuffer batch;

  FileEpochs(EpochPlan plan, int rank, int rowBytes) {
    super(plan.ofRows(MAX_FILES), rank, EpochWay.FILES);
    this.rowBytes = rowBytes;
    this.batch = OffHeapBuffer.allocate((long) plan.batch() * rowBytes);
  }

  private static Path file(EpochPlan plan, int rowBytes, long row) {
    return Path.of(
        plan.directory(), rowBytes + ".files", Long.toString(row / FOLDER_ROWS), row + ".row");
  }

  static void write(EpochPlan all, int rank, PatternRows pattern) throws IOException {
    EpochPlan plan = all.ofRows(MAX_FILES);
    int rowBytes = pattern.rowBytes();
    for (int row = plan.firstRow(rank); row < plan.firstRow(rank + 1); row++) {
      Path file = file(plan, rowBytes, row);
      if (row % FOLDER_ROWS == 0 || row == plan.firstRow(rank)) {
        Files.createDirectories(file.getParent());
      }
      Files.write(file, pattern.row(row));
    }
  }

  @Override
  void read(Consumer consumer) throws IOException {
    ByteBuffer target = batch.buffer().duplicate();
    for (int number = 0; number < order.length; number++) {
      target.clear();
      for (long row : order[number]) {
        readOne(file(plan, rowBytes, row), target.limit(target.position() + rowBytes));
      }
      consumer.take(number, batch.buffer());
    }
  }

  private static void readOne(Path file, ByteBuffer target) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (target.hasRemaining()) {
        if (channel.read(target) < 0) {
          throw new EOFException("file of samples is too short: " + file);
        }
      }
    }
  }

  @Override
  public void close() {
    batch.close();
  }
}
