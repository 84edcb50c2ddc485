// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.ddstore.contract.Leaks;
import org.ddstore.contract.TestRoots;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentTest {
  private static final Schema FIXED = Schema.of(Field.fixed("x", DType.UINT8, 7));
  private static final Schema RAGGED = Schema.of(Field.bytes("x"));

  private Path root;
  private Leaks leaks;
  private int names;

  @BeforeEach
  void createRoot() throws IOException {
    root = TestRoots.sharedMemory();
    leaks = new Leaks(root);
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    try {
      leaks.assertNothingHeld();
      leaks.assertNoFiles();
      assertThat(SegmentRegistry.size()).isZero();
    } finally {
      TestRoots.delete(root);
    }
  }

  private SegmentWriter writer(Backing backing, Schema schema) {
    return SegmentWriter.create(backing, root, "shard" + names++, schema);
  }

  static ByteBuffer ragged(byte[] bytes) {
    return ByteBuffer.allocate(4 + bytes.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(bytes.length)
        .put(bytes)
        .flip();
  }

  private static byte[] record(Segment segment, long row) {
    long place = segment.place(row);
    byte[] bytes = new byte[segment.recordBytes(row)];
    segment.chunk(Segment.chunkOf(place)).get(Segment.positionOf(place), bytes);
    return bytes;
  }

  /** A concurrent change of a buffer during an append affects values, but not lengths. */
  @Test
  void storesConsistentLengthsIfTheyChangeDuringAnAppend() throws InterruptedException {
    ByteBuffer packed = ragged(new byte[] {1, 2, 3});
    AtomicBoolean over = new AtomicBoolean();
    Thread changer =
        new Thread(
            () -> {
              for (int turn = 0; !over.get(); turn++) {
                packed.putInt(0, turn / 16 % 2 == 0 ? 3 : 1 << 20);
              }
            });
    changer.start();
    Segment segment;
    try (SegmentWriter writer = writer(Backing.DIRECT, RAGGED)) {
      for (int attempt = 0; attempt < 20_000 || writer.rows() == 0; attempt++) {
        try {
          writer.append(packed.duplicate());
        } catch (IllegalArgumentException e) {
          assertThat(e).hasMessageContaining("its lengths require 1,048,580");
        }
      }
      segment = writer.seal();
    } finally {
      over.set(true);
      changer.join();
    }
    for (long row = 0; row < segment.rows(); row++) {
      assertThat(record(segment, row)).isEqualTo(new byte[] {3, 0, 0, 0, 1, 2, 3});
    }
    segment.release();
  }

  @ParameterizedTest
  @EnumSource(Backing.class)
  void appendsFixedRecordsInPortionsOfAnySize(Backing backing) {
    Random random = new Random(1);
    byte[] all = new byte[7 * 50_000];
    random.nextBytes(all);
    Segment segment;
    try (SegmentWriter writer = writer(backing, FIXED)) {
      for (int row = 0; row < 50_000; ) {
        int rows = Math.min(50_000 - row, random.nextInt(9000));
        writer.appendRows(ByteBuffer.wrap(all, row * 7, rows * 7));
        row += rows;
        assertThat(writer.rows()).isEqualTo(row);
      }
      segment = writer.seal();
    }
    assertThat(segment.rows()).isEqualTo(50_000);
    assertThat(segment.dataBytes()).isEqualTo(350_000);
    assertThat(segment.offsetBytes()).isZero();
    for (int row = 0; row < 50_000; row += 1 + row % 13) {
      assertThat(ByteBuffer.wrap(record(segment, row))).isEqualTo(ByteBuffer.wrap(all, row * 7, 7));
    }
    segment.release();
  }

  @ParameterizedTest
  @EnumSource(Backing.class)
  void appendsRaggedRecordsOfAnySize(Backing backing) throws IOException {
    Random random = new Random(2);
    List<byte[]> records = new ArrayList<>();
    Segment segment;
    try (SegmentWriter writer = writer(backing, RAGGED)) {
      for (int row = 0; row < 9000; row++) {
        byte[] bytes = new byte[random.nextInt(4) * random.nextInt(400)];
        random.nextBytes(bytes);
        ByteBuffer record = ragged(bytes);
        byte[] copy = new byte[record.limit()];
        record.get(0, copy);
        records.add(copy);
        writer.append(record);
        assertThat(record.hasRemaining()).isFalse();
      }
      segment = writer.seal();
    }
    assertThat(segment.offsetBytes()).isEqualTo(8 * 9001);
    for (int row = 0; row < 9000; row++) {
      assertThat(record(segment, row)).isEqualTo(records.get(row));
    }
    if (backing != Backing.DIRECT) {
      Segment mapped = SegmentFiles.attach(Path.of(segment.path()), segment.nonce());
      assertThat(mapped.isOwned()).isFalse();
      for (int row = 0; row < 9000; row++) {
        assertThat(record(mapped, row)).isEqualTo(records.get(row));
      }
      mapped.release();
    }
    segment.release();
  }

  /** Chunks of direct memory have 64 MiB; those of files are borders of the slow contract. */
  @Test
  void neverSplitsRaggedRecordsAcrossChunks() {
    int[] lengths = {60 << 20, 4 << 20, 1, (64 << 20) - 5, 100 << 20, 0, 64 << 20, 3};
    Segment segment;
    try (SegmentWriter writer = writer(Backing.DIRECT, RAGGED)) {
      for (int i = 0; i < lengths.length; i++) {
        ByteBuffer record = ByteBuffer.allocate(lengths[i] + 4).order(ByteOrder.LITTLE_ENDIAN);
        record.putInt(0, lengths[i]).put(lengths[i] + 3, (byte) (i + 1));
        if (lengths[i] == 0) {
          record.putInt(0, 0);
        }
        writer.append(record);
      }
      segment = writer.seal();
    }
    assertThat(segment.chunks()).isEqualTo(7);
    for (int i = 0; i < lengths.length; i++) {
      assertThat(segment.recordBytes(i)).isEqualTo(lengths[i] + 4);
      long place = segment.place(i);
      ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
      int position = Segment.positionOf(place);
      assertThat(chunk.getInt(position)).isEqualTo(lengths[i]);
      if (lengths[i] > 0) {
        assertThat(chunk.get(position + lengths[i] + 3)).isEqualTo((byte) (i + 1));
      }
    }
    segment.release();
  }

  @Test
  void neverSplitsFixedRecordsAcrossChunks() {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, 10_000_000));
    Segment segment;
    try (SegmentWriter writer = writer(Backing.DIRECT, schema)) {
      writer.appendZeros(9); // four a chunk
      segment = writer.seal();
    }
    assertThat(segment.chunks()).isEqualTo(3);
    assertThat(segment.place(3)).isEqualTo(30_000_000);
    assertThat(segment.place(4)).isEqualTo(1L << 32);
    assertThat(segment.place(8)).isEqualTo(2L << 32);
    assertThat(segment.chunk(2).capacity()).isBetween(10_000_000, 10_200_000);
    segment.release();
  }

  @ParameterizedTest
  @EnumSource(Backing.class)
  void sealsWithoutRows(Backing backing) {
    for (Schema schema : new Schema[] {FIXED, RAGGED}) {
      Segment segment = writer(backing, schema).seal();
      assertThat(segment.rows()).isZero();
      assertThat(segment.chunks()).isZero();
      segment.release();
    }
  }

  @ParameterizedTest
  @EnumSource(Backing.class)
  void unsealedWriterLeavesNothing(Backing backing) {
    for (Schema schema : new Schema[] {FIXED, RAGGED}) {
      SegmentWriter writer = writer(backing, schema);
      for (int i = 0; i < 20_000; i++) {
        writer.append(schema.isFixed() ? ByteBuffer.allocate(7) : ragged(new byte[100]));
      }
      writer.close();
      writer.close();
      assertThatThrownBy(() -> writer.append(ByteBuffer.allocate(7)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: SegmentWriter[20,000 rows");
      assertThatThrownBy(writer::seal).isInstanceOf(IllegalStateException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(Backing.class)
  void rejectsWrongSizesWithoutWriting(Backing backing) {
    try (SegmentWriter fixed = writer(backing, FIXED);
        SegmentWriter text = writer(backing, RAGGED);
        SegmentWriter two =
            writer(backing, Schema.of(Field.ragged("a", DType.INT16), Field.bytes("b")))) {
      assertThatThrownBy(() -> fixed.append(ByteBuffer.allocate(8)))
          .hasMessage("row 0 has 8 bytes; a record of Schema[x: uint8[7]] has 7");
      assertThatThrownBy(() -> fixed.appendRows(ByteBuffer.allocate(15)))
          .hasMessage(
              "buffer of 15 bytes does not hold whole fixed records of Schema[x: uint8[7]]");
      assertThatThrownBy(() -> text.append(ByteBuffer.allocate(5)))
          .hasMessage("row 0 has 5 bytes, but its lengths require 4");
      assertThatThrownBy(() -> text.append(ByteBuffer.allocate(3)))
          .hasMessage("row 0 has 3 bytes, but its lengths require 4");
      ByteBuffer balanced = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
      balanced.putInt(0, -1).putInt(4, 2);
      assertThatThrownBy(() -> two.append(balanced))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("length -1 of field a int16[?] is negative");
      assertThatThrownBy(() -> text.appendZeros(1)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> fixed.appendZeros(-1)).isInstanceOf(IllegalArgumentException.class);
      text.append(ragged(new byte[] {5}));
      Segment segment = text.seal();
      assertThat(record(segment, 0)).containsExactly(1, 0, 0, 0, 5);
      segment.release();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void versionStaysOddOnceTheRowsAreGone(boolean changing) {
    Segment segment;
    try (SegmentWriter writer = writer(Backing.DIRECT, FIXED)) {
      segment = writer.seal();
    }
    segment.beginChange();
    if (!changing) {
      segment.endChange();
    }
    long before = segment.version();
    segment.markGone();
    assertThat(segment.version()).isOdd();
    assertThat(segment.validate(before)).isFalse();
    assertThatThrownBy(segment::beginChange)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("rows of a dropped store cannot change: Segment[0 rows");
    segment.endChange();
    segment.markGone();
    assertThat(segment.version()).isOdd();
    assertThat(segment.isGone()).isTrue();
    segment.release();
  }

  @Test
  void filesArePrivateAndDeletedByUnlink() throws IOException {
    SegmentWriter writer = writer(Backing.SHM, RAGGED);
    writer.append(ragged(new byte[3]));
    Segment segment = writer.seal();
    Path file = Path.of(segment.path());
    try (Stream<Path> files = Files.walk(root)) {
      for (Path path : files.filter(path -> !path.equals(root)).toList()) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
            .as(path.toString())
            .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------");
      }
    }
    assertThat(Segment.attach(segment.nonce(), BootId.ofThisHost(), null)).isSameAs(segment);
    segment.release();
    segment.unlink();
    segment.unlink();
    assertThat(file).doesNotExist();
    assertThat(record(segment, 0)).hasSize(7);
    segment.release();
    assertThatThrownBy(() -> Segment.attach(segment.nonce(), BootId.ofThisHost(), null))
        .isInstanceOf(IOException.class)
        .hasMessage("direct memory of another process");
  }
}
