// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/**
 * The rows that all peers read. Dense row i is float32 {@code [i + 1, i + 2, ...]}; sparse row i
 * has the values {@code i + k} in the columns {@code 61 k + i % 61}, k from 0 to 63.
 */
final class PeerRows {
  static final int VALUES = 64;
  static final int STRIDE = 61;

  /** Above it, a float does not tell its row. */
  static final int MAX_ROWS = (1 << 24) - (1 << 18);

  private static final int BUFFER_BYTES = 1 << 20;
  private static final int HEADER_BYTES = 128;

  private PeerRows() {}

  private interface Element {
    void put(ByteBuffer buffer, long index);
  }

  static void writeDense(Path file, int rows, int floats) throws IOException {
    write(
        file,
        "<f4",
        "(%d, %d)".formatted(rows, floats),
        (long) rows * floats,
        Float.BYTES,
        (buffer, i) -> buffer.putFloat((float) (i / floats + i % floats + 1)));
  }

  /** Writes the three files of compressed sparse rows to a new folder. */
  static void writeSparse(Path folder, int rows) throws IOException {
    Files.createDirectory(folder);
    long values = (long) rows * VALUES;
    String shape = "(%d,)".formatted(values);
    write(
        folder.resolve("columns.npy"),
        "<i4",
        shape,
        values,
        Integer.BYTES,
        (buffer, i) -> buffer.putInt((int) (i % VALUES * STRIDE + i / VALUES % STRIDE)));
    write(
        folder.resolve("values.npy"),
        "<f4",
        shape,
        values,
        Float.BYTES,
        (buffer, i) -> buffer.putFloat((float) (i / VALUES + i % VALUES)));
    write(
        folder.resolve("offsets.npy"),
        "<i8",
        "(%d,)".formatted(rows + 1),
        rows + 1L,
        Long.BYTES,
        (buffer, i) -> buffer.putLong(i * VALUES));
  }

  private static void write(
      Path file, String type, String shape, long elements, int elementBytes, Element element)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    String header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }".formatted(type, shape);
    int length = HEADER_BYTES - 10;
    buffer.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}).putShort((short) length);
    buffer.put(
        String.format(Locale.ROOT, "%-" + (length - 1) + "s\n", header)
            .getBytes(StandardCharsets.US_ASCII));
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long i = 0; i < elements; i++) {
        if (buffer.remaining() < elementBytes) {
          drain(buffer, channel);
        }
        element.put(buffer, i);
      }
      drain(buffer, channel);
    }
  }

  private static void drain(ByteBuffer buffer, FileChannel channel) throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    buffer.clear();
  }

  /**
   * Returns the sum of the hashes of the rows from 0 on, by SplitMix64 (Steele, Lea, Flood, 2014).
   */
  static String digest(long rows) {
    long sum = 0;
    for (long row = 0; row < rows; row++) {
      sum += hash(row);
    }
    return text(sum);
  }

  static long hash(long row) {
    long z = row + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  static String text(long digest) {
    return String.format(Locale.ROOT, "%016x", digest);
  }
}
