// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Links, pipes and files that change while they are read. */
@Timeout(120)
class OddFilesTest {
  @TempDir Path folder;

  private static long count(String format, Path path) {
    return FormatSpark.read(format, path).count();
  }

  private Path plain() throws IOException {
    Path sub = Files.createDirectories(folder.resolve("in/sub"));
    Files.write(sub.resolve("a.bin"), new byte[5]);
    return folder.resolve("in");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", ".", "/", "../sub"})
  void aLinkToAFolderThatContainsItIsNamed(String target) throws IOException {
    Path root = plain();
    Files.createSymbolicLink(root.resolve("sub/up"), Path.of(target));

    assertThatThrownBy(() -> count("files", root))
        .hasStackTraceContaining("sub/up: a symbolic link to a folder that contains it");
  }

  @Test
  void foldersThatLinkToEachOtherAreNamed() throws IOException {
    Path root = plain();
    Files.createDirectories(root.resolve("other"));
    Files.createSymbolicLink(root.resolve("sub/x"), root.resolve("other"));
    Files.createSymbolicLink(root.resolve("other/y"), root.resolve("sub"));

    assertThatThrownBy(() -> count("files", root)).hasStackTraceContaining("a symbolic link to");
  }

  @Test
  void aLinkToNothingIsNamedAndOneToAFileIsRead() throws IOException {
    Path root = plain();
    Files.createSymbolicLink(root.resolve("b.bin"), Path.of("sub/a.bin"));

    assertThat(count("files", root)).isEqualTo(2);
    Files.createSymbolicLink(root.resolve("c.bin"), Path.of("absent"));
    assertThatThrownBy(() -> count("files", root))
        .hasStackTraceContaining("c.bin: a symbolic link to absent, which is missing");
    Files.delete(root.resolve("c.bin"));
    Files.createSymbolicLink(root.resolve(".c.bin"), Path.of("absent"));
    Files.write(root.resolve("_SUCCESS"), new byte[0]);
    Files.write(Files.createDirectories(root.resolve("_temporary")).resolve("d.bin"), new byte[5]);
    assertThat(count("files", root)).as("hidden files are left out").isEqualTo(2);
    Files.write(root.resolve("_c.bin"), new byte[5]);
    assertThat(count("files", root)).isEqualTo(3);
  }

  @Test
  void placeholdersInNamesAreEscaped() throws IOException {
    for (String name : List.of("a[b].bin", "ab.bin", "q?.bin", "star*.bin", "c{d}.bin")) {
      Files.write(folder.resolve(name), new byte[5]);
    }

    assertThat(count("files", folder.resolve("a[b].bin"))).as("a pattern: ab.bin").isEqualTo(1);
    for (String name : List.of("a\\[b\\].bin", "q\\?.bin", "star\\*.bin", "c\\{d\\}.bin")) {
      assertThat(count("files", folder.resolve(name))).as(name).isEqualTo(1);
    }
    Files.write(folder.resolve("co:lon.bin"), new byte[5]);
    assertThat(count("files", folder)).isEqualTo(6);
    assertThatThrownBy(() -> count("files", folder.resolve("co:lon.bin")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("format files: cannot list [")
        .hasMessageContaining("co:lon.bin");
  }

  @Test
  void aPipeIsRefused() throws Exception {
    Path pipe = folder.resolve("pipe.npy");
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
    assertThat(made.waitFor(30, TimeUnit.SECONDS)).isTrue();

    assertThatThrownBy(() -> count("npy", pipe))
        .hasStackTraceContaining("pipe.npy: not a regular file");
  }

  /** The file has the same size and the reader has it open, so nothing else would tell. */
  @Test
  void aFileThatIsOverwrittenDuringAReadIsNamed() {
    Python.run(
        folder, "import numpy as np; np.save('grown.npy', np.zeros((300000, 16), np.int32))");
    String file = folder.resolve("grown.npy").toString();
    FlatMapFunction<Iterator<Row>, Integer> writing =
        rows -> {
          if (!rows.hasNext()) {
            return List.of(0).iterator();
          }
          rows.next();
          Thread.sleep(20); // the clock of the file system ticks every few milliseconds
          try (RandomAccessFile written = new RandomAccessFile(file, "rw")) {
            written.seek(1000);
            written.write(new byte[1000]);
          }
          int count = 1;
          while (rows.hasNext()) {
            rows.next();
            count++;
          }
          return List.of(count).iterator();
        };

    assertThatThrownBy(
            () -> FormatSpark.read("npy", Path.of(file)).javaRDD().mapPartitions(writing).collect())
        .hasStackTraceContaining(FormatException.class.getName())
        .hasStackTraceContaining("grown.npy: was written after it was listed");
  }

  @Test
  void tablesOfTheSessionCatalogAreReadAndDropped() {
    Python.run(folder, "import numpy as np; np.save('t.npy', np.arange(7))");
    SparkSession spark = FormatSpark.session();
    Path file = folder.resolve("t.npy");
    for (String place : List.of("OPTIONS (path '%s', `column` 'n')", "LOCATION '%s'")) {
      spark.sql(
          "CREATE TABLE odd_files USING npy %s TBLPROPERTIES (unit 'K')"
              .formatted(place.formatted(file)));
      try {
        String name = place.startsWith("OPTIONS") ? "n" : "value";
        assertThat(spark.sql("SELECT sum(%s) FROM odd_files".formatted(name)).first().getLong(0))
            .isEqualTo(21);
      } finally {
        spark.sql("DROP TABLE odd_files");
      }
      assertThat(file).exists();
    }
  }
}
