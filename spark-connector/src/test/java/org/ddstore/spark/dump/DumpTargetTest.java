// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.dump.DumpManifest.NotAManifestException;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.spark.types.InvalidDumpException.Problem;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories of dumps: publication, replacement, refusal, and every kind of foreign content. */
class DumpTargetTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT64));
  private static final StructType SOURCE = new StructType().add("x", DataTypes.LongType, false);
  private static final IngestOptions OPTIONS =
      IngestOptions.defaults().field("x", DType.INT64).fillNulls("x", 7L).orderBy("x");

  @TempDir private Path parent;

  private Path path() {
    return parent.resolve("dump");
  }

  private DumpDirectory directory() {
    return DumpDirectory.of(path().toString(), new Configuration());
  }

  private DumpDirectory faulty(long room, String refused) {
    return DumpDirectory.of("faulty://" + path(), FaultyFileSystem.settings(room, refused));
  }

  private static List<DumpedFile> write(DumpTarget target, DumpDirectory directory, long value) {
    String folder = new org.apache.hadoop.fs.Path(target.toString()).getName();
    try (DumpWriter writer = new DumpWriter(directory, folder, "rank-00000", 0)) {
      writer.append(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).flip());
      return List.of(writer.finish());
    }
  }

  private static DumpInfo publish(DumpTarget target, List<DumpedFile> files) {
    return target.publish(
        new DumpTarget.Description(
            "train",
            DumpManifest.digestOf(files),
            SCHEMA,
            SOURCE,
            List.of(new ColumnMapping(List.of("x"), DataTypes.LongType, List.of("x"))),
            OPTIONS),
        files);
  }

  private DumpInfo dump(DumpMode mode, long value) {
    DumpTarget target = DumpTarget.create(directory(), mode);
    return publish(target, write(target, directory(), value));
  }

  private List<String> entries() throws IOException {
    try (Stream<Path> all = Files.list(path())) {
      return all.map(entry -> entry.getFileName().toString())
          .filter(name -> !name.startsWith(".")) // checksums of Hadoop
          .sorted()
          .toList();
    }
  }

  private Problem problem() {
    InvalidDumpException thrown =
        catchThrowableOfType(InvalidDumpException.class, () -> DumpSource.open(directory()));
    assertThat(thrown).isNotNull();
    assertThat(thrown).hasMessageContaining(path().toString());
    return thrown.problem();
  }

  @Test
  void publishedDumpDescribesTheStore() throws IOException {
    DumpInfo written = dump(DumpMode.CREATE, 5);
    DumpSource source = DumpSource.open(directory());
    assertThat(source.info()).isEqualTo(written);
    assertThat(written.rows()).isEqualTo(1);
    assertThat(written.bytes()).isEqualTo(8);
    assertThat(written.files()).isEqualTo(1);
    assertThat(written.store()).isEqualTo("train");
    assertThat(written.path()).isEqualTo("file:" + path());
    assertThat(source.schema()).isEqualTo(SCHEMA);
    assertThat(source.sourceSchema()).isEqualTo(SOURCE);
    assertThat(source.columns())
        .containsExactly(new ColumnMapping(List.of("x"), DataTypes.LongType, List.of("x")));
    assertThat(source.options()).hasToString(OPTIONS.toString());
    assertThat(entries()).hasSize(2).element(0).asString().startsWith("manifest-00000001-");
  }

  @Test
  void overwriteKeepsTheOldDumpUntilTheNewOneIsComplete() throws IOException {
    DumpInfo old = dump(DumpMode.CREATE, 1);
    DumpTarget target = DumpTarget.create(directory(), DumpMode.OVERWRITE);
    List<DumpedFile> files = write(target, directory(), 2);
    assertThat(DumpSource.open(directory()).digest()).isEqualTo(old.digest());

    DumpInfo replaced = publish(target, files);

    assertThat(replaced.digest()).isNotEqualTo(old.digest());
    assertThat(DumpSource.open(directory()).digest()).isEqualTo(replaced.digest());
    assertThat(entries()).hasSize(2).element(0).asString().startsWith("manifest-00000002-");
  }

  @Test
  void discardedDumpLeavesTheOldOneAlone() throws IOException {
    DumpInfo old = dump(DumpMode.CREATE, 1);
    List<String> before = entries();
    DumpTarget target = DumpTarget.create(directory(), DumpMode.OVERWRITE);
    write(target, directory(), 2);
    target.discard();
    assertThat(entries()).isEqualTo(before);
    assertThat(DumpSource.open(directory()).digest()).isEqualTo(old.digest());
  }

  @Test
  void createRefusesADumpEvenAnUnfinishedOne() {
    DumpTarget unfinished = DumpTarget.create(directory(), DumpMode.CREATE);
    write(unfinished, directory(), 1);
    assertThatThrownBy(() -> DumpTarget.create(directory(), DumpMode.CREATE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("an unfinished dump")
        .hasMessageContaining("DumpMode.OVERWRITE");
    assertThat(problem()).isEqualTo(Problem.INCOMPLETE);

    dump(DumpMode.OVERWRITE, 2);
    assertThatThrownBy(() -> DumpTarget.create(directory(), DumpMode.CREATE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it contains a dump");
    assertThatThrownBy(
            () -> publish(unfinished, List.of(new DumpedFile("f", 0, 1, 20, 1, 0, 0, 0))))
        .as("a dump whose files another one has deleted")
        .isInstanceOf(DumpException.class);
  }

  @Test
  void foreignDirectoriesAreNeverTouched() throws IOException {
    Files.createDirectories(path());
    Files.writeString(path().resolve("thesis.tex"), "years of work");
    for (DumpMode mode : DumpMode.values()) {
      assertThatThrownBy(() -> DumpTarget.create(directory(), mode))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("thesis.tex")
          .hasMessageContaining("new or empty directory");
    }
    assertThat(entries()).containsExactly("thesis.tex");
    assertThat(problem()).isEqualTo(Problem.FOREIGN);
  }

  @Test
  void missingPathsAndFilesAreNamed() throws IOException {
    assertThat(problem()).isEqualTo(Problem.MISSING);
    Files.writeString(path(), "a file");
    assertThat(problem()).isEqualTo(Problem.FOREIGN);
    assertThatThrownBy(() -> DumpTarget.create(directory(), DumpMode.CREATE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it is a file");
    DumpDirectory below = DumpDirectory.of(path() + "/below", new Configuration());
    assertThatThrownBy(() -> DumpTarget.create(below, DumpMode.CREATE))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining(path().toString());
  }

  @Test
  void missingAndTruncatedFilesAreFoundWhenTheDumpIsOpened() throws IOException {
    dump(DumpMode.CREATE, 1);
    Path file = path().resolve(entries().get(1)).resolve("rank-00000");
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
    assertThat(problem()).isEqualTo(Problem.DAMAGED);
    Files.delete(file);
    assertThat(problem()).isEqualTo(Problem.DAMAGED);
  }

  @Test
  void damagedManifestIsRefusedUnlessAnOlderOneIsThere() throws IOException {
    dump(DumpMode.CREATE, 1);
    String newest = "manifest-00000009-" + "a".repeat(32);
    Files.writeString(path().resolve(newest), "{\"format\":\"ddst"); // a writer was killed
    assertThat(DumpSource.open(directory()).info().rows()).isEqualTo(1);
    try (Stream<Path> all = Files.list(path())) {
      for (Path entry : all.filter(e -> e.toString().contains("manifest-00000001")).toList()) {
        Files.delete(entry);
      }
    }
    assertThat(problem()).isEqualTo(Problem.DAMAGED);
  }

  @Test
  void manifestsWithADamagedByteAreRefused() throws IOException, NotAManifestException {
    dump(DumpMode.CREATE, 1);
    byte[] good = Files.readAllBytes(path().resolve(entries().get(0)));
    assertThat(DumpManifest.parse(good).toBytes()).isEqualTo(good);
    for (int i = 0; i < good.length - 1; i++) {
      byte[] bad = good.clone();
      bad[i] = (byte) (bad[i] ^ 1);
      assertThatThrownBy(() -> DumpManifest.parse(bad))
          .as("byte %d", i)
          .isInstanceOf(NotAManifestException.class);
      byte[] truncated = Arrays.copyOf(good, i);
      assertThatThrownBy(() -> DumpManifest.parse(truncated))
          .as("length %d", i)
          .isInstanceOf(NotAManifestException.class);
    }
  }

  @Test
  void manifestOfALaterVersionIsNamed() throws IOException {
    dump(DumpMode.CREATE, 1);
    Path file = path().resolve(entries().get(0));
    String line = Files.readString(file).lines().findFirst().orElseThrow();
    String later = line.replace("\"version\":1", "\"version\":2");
    assertThat(later).isNotEqualTo(line);
    CRC32C crc = new CRC32C();
    crc.update(later.getBytes(StandardCharsets.UTF_8));
    Files.writeString(file, "%s\n%08x\n".formatted(later, crc.getValue()));
    Files.deleteIfExists(path().resolve("." + file.getFileName() + ".crc"));
    assertThatThrownBy(() -> DumpSource.open(directory()))
        .isInstanceOf(InvalidDumpException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("this release reads");
  }

  @Test
  void refusedAccessAndFullDiskAreNamed() throws IOException {
    assertThatThrownBy(() -> DumpTarget.create(faulty(Long.MAX_VALUE, "/dump"), DumpMode.CREATE))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("Permission denied")
        .hasMessageContaining("give user ");
    DumpDirectory full = faulty(100, "");
    DumpTarget target = DumpTarget.create(full, DumpMode.CREATE);
    List<DumpedFile> files = write(target, full, 1);
    assertThatThrownBy(() -> publish(target, files))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("No space left on device");
    target.discard();
    Files.createDirectory(path());
    assertThatThrownBy(() -> DumpSource.open(faulty(Long.MAX_VALUE, "/dump")))
        .isInstanceOf(DumpException.class)
        .isNotInstanceOf(InvalidDumpException.class)
        .hasMessageContaining("Permission denied");
  }

  @Test
  void errorsOfFullLocalDisksAreExceptionsOfTheDump() {
    DumpDirectory full = faulty(0, "");
    DumpTarget target = DumpTarget.create(full, DumpMode.CREATE);
    assertThatThrownBy(() -> write(target, full, 1))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("cannot write")
        .hasMessageContaining("No space left on device: free space")
        .hasCauseInstanceOf(IOException.class);
    assertThatThrownBy(() -> publish(target, List.of()))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("No space left on device");
  }

  @Test
  void discardedDumpLeavesNoDirectoriesThatItCreated() throws IOException {
    DumpDirectory deep = DumpDirectory.of(path() + "/a/b", new Configuration());
    DumpTarget first = DumpTarget.create(deep, DumpMode.CREATE);
    DumpTarget second = DumpTarget.create(deep, DumpMode.OVERWRITE);
    write(first, deep, 1);
    first.discard();
    assertThat(path().resolve("a/b")).as("another dump is in it").isNotEmptyDirectory();
    second.discard();
    assertThat(path().resolve("a/b")).as("it existed before the second dump").isEmptyDirectory();

    DumpDirectory other = DumpDirectory.of(path() + "/c/d", new Configuration());
    DumpTarget.create(other, DumpMode.CREATE).discard();
    assertThat(path().resolve("c")).doesNotExist();
    DumpDirectory refused = faulty(Long.MAX_VALUE, "rows-");
    DumpDirectory below =
        DumpDirectory.of(refused + "/e/f", FaultyFileSystem.settings(Long.MAX_VALUE, "rows-"));
    assertThatThrownBy(() -> DumpTarget.create(below, DumpMode.CREATE))
        .isInstanceOf(DumpException.class);
    assertThat(entries()).containsExactly("a");
  }

  @Test
  void pathsThatCannotContainADumpAreNamed() {
    for (String path : List.of("", "  ")) {
      assertThatThrownBy(() -> DumpDirectory.of(path, new Configuration()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("path of a dump is \"%s\"".formatted(path));
    }
    assertThatThrownBy(() -> DumpDirectory.of("http://localhost:1/a", new Configuration()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("http://localhost:1/a cannot contain a dump");
    Configuration lacking = new Configuration();
    lacking.set("fs.s3a.impl", "org.example.MissingFileSystem");
    assertThatThrownBy(() -> DumpDirectory.of("s3a://bucket/dump", lacking))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("cannot open the file system of s3a://bucket/dump: Class ")
        .hasMessageContaining("org.example.MissingFileSystem not found: add the library of")
        .hasMessageContaining("\"s3a\"");
    assertThatThrownBy(() -> DumpDirectory.of("unknown://a/b", new Configuration()))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("No FileSystem for scheme");
  }

  @Test
  void secondDumpOfTheSameTimeIsRefused() {
    DumpTarget first = DumpTarget.create(directory(), DumpMode.CREATE);
    List<DumpedFile> firstFiles = write(first, directory(), 1);
    Configuration plain = new Configuration();
    DumpTarget second =
        DumpTarget.create(DumpDirectory.of(path().toString(), plain), DumpMode.OVERWRITE);
    List<DumpedFile> secondFiles = write(second, directory(), 2);
    DumpInfo published = publish(first, firstFiles);
    assertThatThrownBy(() -> publish(second, secondFiles))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining("was published there meanwhile");
    second.discard();
    assertThat(DumpSource.open(directory()).info()).isEqualTo(published);
  }

  @Test
  void dumpThatAStoreWasRestoredFromIsNotReplaced() throws IOException {
    dump(DumpMode.CREATE, 1);
    String folder = DumpSource.open(directory()).folder();
    Path link = Files.createSymbolicLink(parent.resolve("link"), path());
    DumpDirectory same = DumpDirectory.of(link.toString(), new Configuration());
    DumpTarget target = DumpTarget.create(same, DumpMode.OVERWRITE);
    target.checkUnneeded(Map.of("rows-of-another", "other"));
    assertThatThrownBy(() -> target.checkUnneeded(Map.of(folder, "train")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot dump to " + same)
        .hasMessageContaining("store \"train\" was restored from the dump there");
  }

  @Test
  void foreignTextInPlaceOfAManifestIsNamed() throws IOException {
    Files.createDirectory(path());
    Path manifest = path().resolve("manifest-00000001-" + "a".repeat(32));
    for (String foreign : List.of("notes", "notes\nof mine\n", "{\"format\":\"parquet\"}\n")) {
      Files.writeString(manifest, foreign);
      assertThat(problem()).as(foreign).isEqualTo(Problem.FOREIGN);
    }
    for (String truncated : List.of("", "{\"form", "{\"format\":\"ddstore-dump\",\"vers")) {
      Files.writeString(manifest, truncated);
      assertThat(problem()).as(truncated).isEqualTo(Problem.DAMAGED);
    }
  }

  @Test
  void interruptOfAFileSystemIsKept() {
    assertThat(DumpDirectory.failure("write", "/a", new InterruptedIOException("interrupted")))
        .hasMessage("cannot write /a: interrupted");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(DumpDirectory.failure("write", "/a", new SocketTimeoutException("late")))
        .hasMessage("cannot write /a: late");
    assertThat(Thread.interrupted()).isFalse();
  }
}
