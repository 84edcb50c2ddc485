// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.Untrusted;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;

/** Segment files of another process of this host, and their offsets. */
class SegmentFilesFuzzTest {
  private static final int DATA_BYTES = 2 * SegmentHeader.PAGE_BYTES;
  private static final Nonce NONCE = new Nonce(1, 2);

  private static Path root;
  private static Path data;
  private static Path offsets;

  @BeforeAll
  static void createRoot() throws IOException {
    root = TestRoots.sharedMemory();
    data = root.resolve("data");
    offsets = root.resolve("data.offsets");
  }

  @AfterAll
  static void deleteRoot() throws IOException {
    TestRoots.delete(root);
  }

  /** The first 256 bytes of both files, and what follows the header of the offsets. */
  static List<byte[]> files() throws IOException {
    List<byte[]> all = new ArrayList<>();
    Path own = TestRoots.sharedMemory();
    for (Field field : List.of(Field.fixed("x", DType.UINT8, 7), Field.bytes("x"))) {
      try (SegmentWriter writer = SegmentWriter.create(Backing.SHM, own, "s", Schema.of(field))) {
        for (byte row = 0; row < 5; row++) {
          writer.append(
              field.isRagged()
                  ? SegmentTest.ragged(new byte[] {row})
                  : ByteBuffer.wrap(new byte[] {row, 1, 2, 3, 4, 5, 6}));
        }
        Segment segment = writer.seal();
        ByteBuffer head = ByteBuffer.allocate(512 + 64);
        head.put(Files.readAllBytes(Path.of(segment.path())), 0, 256);
        if (field.isRagged()) {
          byte[] index = Files.readAllBytes(Path.of(segment.path() + ".offsets"));
          head.put(index, 0, 256).put(index, OffsetsFile.HEADER_BYTES, 64);
        }
        all.add(head.array());
        segment.release();
      }
    }
    TestRoots.delete(own);
    return all;
  }

  @MethodSource("files")
  @FuzzTest
  void attach(byte[] bytes) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    write(data, in, DATA_BYTES, 16);
    byte[] index = write(offsets, in, 2 * OffsetsFile.HEADER_BYTES, 8);
    in.get(index, OffsetsFile.HEADER_BYTES, Math.min(in.remaining(), 1024));
    Files.write(offsets, index);
    Untrusted.parse(() -> SegmentFiles.attach(data, NONCE), IOException.class)
        .ifPresent(
            segment -> {
              try {
                read(segment);
              } finally {
                segment.release();
              }
            });
  }

  /** Writes a file that begins with the next 256 bytes, this host and the expected nonce. */
  private static byte[] write(Path file, ByteBuffer in, int size, int nonceAt) {
    ByteBuffer content = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    in.get(content.array(), 0, Math.min(256, in.remaining()));
    NONCE.write(content, nonceAt);
    if (file.equals(data)) {
      content.putLong(72, BootId.ofThisHost().bits());
    }
    try {
      Files.write(file, content.array());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return content.array();
  }

  /** Finds the first and the last record as a reader does. */
  private static void read(Segment segment) {
    for (long row : new long[] {0, segment.rows() - 1}) {
      Untrusted.parse(() -> segment.address(row), IndexOutOfBoundsException.class);
    }
  }
}
