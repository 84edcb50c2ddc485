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
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.ddstore.contract.Leaks;
import org.ddstore.contract.TestRoots;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are not what a reader expects are refused when they are attached. */
class SegmentFilesTest {
  private static final int ROWS = 100;

  private Path root;
  private Leaks leaks;
  private Segment fixed;
  private Segment ragged;
  private Path copies;

  @BeforeEach
  void writeSegments() throws IOException {
    root = TestRoots.sharedMemory();
    leaks = new Leaks(root);
    try (SegmentWriter writer =
            SegmentWriter.create(
                Backing.SHM, root, "fixed", Schema.of(Field.fixed("x", DType.INT32, 3)));
        SegmentWriter text =
            SegmentWriter.create(Backing.SHM, root, "ragged", Schema.of(Field.bytes("x")))) {
      writer.appendZeros(ROWS);
      fixed = writer.seal();
      for (int i = 0; i < ROWS; i++) {
        text.append(SegmentTest.ragged(new byte[i]));
      }
      ragged = text.seal();
    }
    copies = ownersDirectory(Path.of(fixed.path()).getParent() + "-copies");
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    fixed.release();
    ragged.release();
    TestRoots.delete(copies);
    try {
      leaks.assertNothingHeld();
      leaks.assertNoFiles();
    } finally {
      TestRoots.delete(root);
    }
  }

  /** A task that is killed before it loads is such a thread. */
  @Test
  void interruptedCreateLeavesNoFiles() {
    for (Schema schema :
        List.of(Schema.of(Field.fixed("x", DType.INT32)), Schema.of(Field.bytes("x")))) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> SegmentWriter.create(Backing.SHM, root, "interrupted", schema))
          .isInstanceOf(DDStoreException.class)
          .hasMessageEndingWith("interrupted: the thread was interrupted");
      assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
      assertThat(Path.of(fixed.path()).getParent())
          .isDirectoryNotContaining(
              file -> file.getFileName().toString().startsWith("interrupted"));
    }
  }

  private static Path ownersDirectory(String path) throws IOException {
    return Files.createDirectory(
        Path.of(path),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /** The path can come from the text of a handle, which anybody may have written. */
  @Test
  void trustsOnlyDirectoriesOfOtherProcesses(@TempDir Path elsewhere) throws IOException {
    Path copy = copy(fixed, SegmentFilesTest::same, SegmentFilesTest::same);
    String home = copies.getFileName().toString();
    Path outside = Files.copy(copy, elsewhere.resolve("copy"));
    Path shared = Files.createDirectory(elsewhere.resolve(home));
    Path open = Files.copy(copy, shared.resolve("copy"));
    Path linked = Files.createSymbolicLink(elsewhere.resolve(home + "-link"), copies);
    Path own = Path.of(fixed.path());
    for (Path path :
        List.of(
            outside,
            open,
            linked.resolve("copy"),
            own,
            own.resolveSibling("lock"),
            copies.resolve("lock"),
            copies.resolve("../" + elsewhere.getFileName()),
            Path.of(home, "copy"),
            Path.of("/"))) {
      assertThatThrownBy(() -> ProcessDirectory.checkHolds(path))
          .isInstanceOf(IOException.class)
          .hasMessage(
              "%s is not a segment of another process of this user and host".formatted(path));
    }
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwx------"));
    ProcessDirectory.checkHolds(open);
    Path link = Files.createSymbolicLink(copies.resolve("link"), copy);
    assertThatThrownBy(() -> SegmentFiles.attach(link, fixed.nonce()))
        .isInstanceOf(IOException.class);
  }

  private Path copy(Segment segment, Consumer<ByteBuffer> data, Consumer<ByteBuffer> offsets)
      throws IOException {
    Path to = copies.resolve("copy");
    change(Path.of(segment.path()), to, data);
    if (!segment.schema().isFixed()) {
      change(Path.of(segment.path() + ".offsets"), Path.of(to + ".offsets"), offsets);
    }
    return to;
  }

  private static void change(Path from, Path to, Consumer<ByteBuffer> change) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(from)).order(ByteOrder.LITTLE_ENDIAN);
    change.accept(bytes);
    Files.write(to, Arrays.copyOf(bytes.array(), bytes.limit()));
  }

  private static void same(ByteBuffer bytes) {}

  private void refused(Segment segment, Consumer<ByteBuffer> data, String message)
      throws IOException {
    refused(segment, data, SegmentFilesTest::same, message);
  }

  private void refused(
      Segment segment, Consumer<ByteBuffer> data, Consumer<ByteBuffer> offsets, String message)
      throws IOException {
    Path path = copy(segment, data, offsets);
    assertThatThrownBy(() -> SegmentFiles.attach(path, segment.nonce()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message);
  }

  @Test
  void attachesAnIdenticalCopy() throws IOException {
    for (Segment segment : new Segment[] {fixed, ragged}) {
      Path path = copy(segment, SegmentFilesTest::same, SegmentFilesTest::same);
      Segment attached = SegmentFiles.attach(path, segment.nonce());
      assertThat(attached.rows()).isEqualTo(ROWS);
      RowDigest one = new RowDigest();
      RowDigest other = new RowDigest();
      one.add(0, segment);
      other.add(0, attached);
      assertThat(other).hasToString(one.toString());
      attached.release();
    }
  }

  @Test
  void rejectsForeignAndUnsealedFiles() throws IOException {
    Path other = Files.write(copies.resolve("other"), new byte[10_000]);
    assertThatThrownBy(() -> SegmentFiles.attach(other, fixed.nonce()))
        .isInstanceOf(IOException.class)
        .hasMessage("not a sealed segment file");
    Path empty = Files.createFile(copies.resolve("empty"));
    assertThatThrownBy(() -> SegmentFiles.attach(empty, fixed.nonce()))
        .hasMessage("not a sealed segment file");
    assertThatThrownBy(() -> SegmentFiles.attach(copies.resolve("none"), fixed.nonce()))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
    assertThatThrownBy(() -> SegmentFiles.attach(Path.of(ragged.path()), fixed.nonce()))
        .hasMessage(
            "nonce %s, expected %s: the file belongs to another host or run"
                .formatted(ragged.nonce(), fixed.nonce()));
  }

  @Test
  void rejectsTruncatedFiles() throws IOException {
    refused(fixed, b -> b.limit(b.limit() - 1), "the file has 5,295 bytes; its header says 5,296");
    refused(fixed, b -> b.limit(4096), "its header says 5,296");
    refused(fixed, b -> b.limit(4095), "not a sealed segment file");
    refused(ragged, b -> b.limit(b.limit() - 1), "bytes; its header says");
    refused(ragged, SegmentFilesTest::same, b -> b.limit(b.limit() - 1), "the offsets file has");
    refused(ragged, SegmentFilesTest::same, b -> b.limit(4097), "the offsets file has");
    refused(ragged, SegmentFilesTest::same, b -> b.limit(10), "the file ends at byte 10");
  }

  @Test
  void rejectsInconsistentHeaders() throws IOException {
    String contradicts = "segment header contradicts itself";
    for (long rows : new long[] {ROWS + 1, ROWS - 1, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      refused(fixed, b -> b.putLong(32, rows), contradicts);
      refused(fixed, b -> b.putLong(40, rows), contradicts);
    }
    refused(ragged, b -> b.putLong(32, -1), contradicts);
    refused(fixed, b -> b.putInt(8, 2), "segment format version 2; this program reads 1");
    refused(fixed, b -> b.putInt(12, 8192), contradicts);
    refused(fixed, b -> b.putInt(12, -4096), contradicts);
    refused(fixed, b -> b.putInt(48, 16), contradicts);
    refused(fixed, b -> b.putInt(52, 31), contradicts);
    refused(fixed, b -> b.putInt(52, -1), contradicts);
    refused(fixed, b -> b.putInt(56, Integer.MAX_VALUE), "is cut off");
    refused(fixed, b -> b.putInt(56, 3), "the schema ends too early");
  }

  /** On a shared file system the file opens and its nonce matches; its mapping would be stale. */
  @Test
  void rejectsAFileMadeOnAnotherHost() throws IOException {
    BootId other = new BootId(~BootId.ofThisHost().bits());
    for (Segment segment : List.of(fixed, ragged)) {
      refused(
          segment,
          b -> b.putLong(72, other.bits()),
          "boot id %s, this host has %s: the file was made on another host"
              .formatted(other, BootId.ofThisHost()));
    }
  }

  @Test
  void doesNotOpenAFileOfAnotherHost() {
    BootId other = new BootId(~BootId.ofThisHost().bits());
    assertThatThrownBy(() -> Segment.attach(Nonce.random(), other, fixed.path()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("memory of another host (boot id " + other);
  }

  @Test
  void rejectsOffsetsOfAnotherSegmentOrOtherChunks() throws IOException {
    String another = "the offsets file belongs to another segment";
    refused(ragged, SegmentFilesTest::same, b -> b.putLong(0, 5), another);
    refused(ragged, SegmentFilesTest::same, b -> b.putLong(8, 5), another);
    refused(ragged, SegmentFilesTest::same, b -> b.putLong(24, 5), "is for 5 rows in 1 chunks");
    int[] numbers = {-1, 2, 101, Integer.MAX_VALUE};
    for (int chunks : numbers) {
      refused(ragged, SegmentFilesTest::same, b -> b.putInt(32, chunks), "the offsets file");
    }
    int starts = 4096 + 8 * (ROWS + 1);
    String chunks = "the chunks [";
    refused(ragged, SegmentFilesTest::same, b -> b.putLong(starts, 1), chunks);
    refused(ragged, SegmentFilesTest::same, b -> b.putLong(starts + 8, 1), chunks);
    Path path = copy(ragged, SegmentFilesTest::same, SegmentFilesTest::same);
    Files.delete(Path.of(path + ".offsets"));
    assertThatThrownBy(() -> SegmentFiles.attach(path, ragged.nonce()))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
  }

  /** Whatever byte is wrong: an error of the attach, or a segment that can be walked or refused. */
  @Test
  void survivesAnyChangedByte() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      Segment segment = i % 2 == 0 ? fixed : ragged;
      Consumer<ByteBuffer> anywhere =
          b -> b.put(random.nextInt(Math.min(b.limit(), 160)), (byte) random.nextInt());
      Path path = copy(segment, anywhere, i % 4 == 1 ? anywhere : SegmentFilesTest::same);
      try {
        Segment attached = SegmentFiles.attach(path, segment.nonce());
        assertThat(attached.rows()).as("seed %d", seed).isEqualTo(ROWS);
        attached.release();
      } catch (IOException e) {
        assertThat(e.getMessage()).as("seed %d", seed).isNotBlank();
      }
    }
  }
}
