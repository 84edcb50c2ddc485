// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/** Parquet files of the release that this is compiled against, which all read. */
final class SampleRows {
  static final int ROWS = 1000;

  /** A column of floats, 0 to 999. */
  static final String COLUMN = "x";

  /** A column of equal numbers. */
  static final String KEY = "k";

  /** Shared by the JVMs of Surefire, whose temporary folders are beside it. */
  private static final Path SHARED =
      Path.of(System.getProperty("java.io.tmpdir")).resolveSibling("sample-rows");

  private SampleRows() {}

  /**
   * Returns the path of the files, which the first call writes. They are never deleted or changed.
   */
  static synchronized String path() throws IOException {
    if (Files.notExists(SHARED)) {
      Path lock = SHARED.resolveSibling("sample-rows.lock");
      try (FileChannel file = FileChannel.open(lock, CREATE, WRITE);
          FileLock held = file.lock()) {
        if (held.isValid() && Files.notExists(SHARED)) {
          Path directory = Files.createTempDirectory("sample-").resolve("rows");
          write(directory);
          Files.move(directory, SHARED, ATOMIC_MOVE);
        }
      }
    }
    return SHARED.toString();
  }

  private static void write(Path directory) throws IOException {
    try (SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .getOrCreate()) {
      spark
          .range(0, ROWS, 1, 3)
          .selectExpr(
              "id",
              "float(id) as " + COLUMN,
              "id % 7 as " + KEY,
              "concat('Zeile ', id) as text",
              "sequence(0, id % 4) as ragged")
          .write()
          .parquet(directory.toString());
    }
  }

  /** Checks the line of means that the quick start prints for {@code ranks} ranks. */
  static void assertMeans(String line, int ranks) {
    assertThat(line).startsWith("[").endsWith("]");
    List<Double> means =
        Arrays.stream(line.substring(1, line.length() - 1).split(", ", -1))
            .map(Double::valueOf)
            .toList();
    assertThat(means).hasSize(ranks).allSatisfy(m -> assertThat(m).isCloseTo(499.5, within(10.0)));
  }
}
