// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the driver sees of an input before executors start. */
class InputCheckTest {
  @TempDir private Path folder;

  private static void assertRefused(Object path, String... message) {
    assertThatThrownBy(() -> InputCheck.checked(path.toString(), new InputOptions()))
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith("--input " + path + ": ")
        .hasMessageContainingAll(message);
  }

  @ParameterizedTest
  @CsvSource({"s3://bucket/a, use s3a://bucket/a", "s3n://bucket/a, use s3a://bucket/a"})
  void namesTheSchemeThatHadoopKnows(String path, String message) {
    assertRefused(path, message);
  }

  @Test
  void namesThePackageOfS3() {
    assertRefused("s3a://bucket/a", "spark-submit --packages org.apache.hadoop:hadoop-aws:");
    assertRefused("gs://bucket/a", "the class path has no file system \"gs\"");
    assertRefused("nosuch://bucket/a", "the class path has no file system \"nosuch\"");
    assertThat(InputCheck.checked("hdfs://host/a", new InputOptions())).isEqualTo("hdfs://host/a");
  }

  @Test
  void refusesWhatIsNotThere() throws IOException {
    assertRefused(folder.resolve("none"), "no such file or directory");
    Files.createFile(folder.resolve(".hidden"));
    assertRefused(folder, "the folder has no files");
    assertThat(InputCheck.checked("/none/part-*.npy", new InputOptions()))
        .isEqualTo("/none/part-*.npy");
  }

  @Test
  void refusesAFileOfAnotherFormatThanItsName() throws IOException {
    Path file = Files.writeString(folder.resolve("rows.parquet"), "a,b\n1,2\n");
    assertRefused(file, "rows.parquet is no parquet file: it does not begin with PAR", "--format");
    assertRefused(folder, "rows.parquet is no parquet file");
    Path empty = Files.createFile(folder.resolve("rows.orc"));
    assertRefused(empty, "rows.orc is no orc file: it is empty");
    InputOptions csv = new InputOptions();
    csv.format = "csv";
    assertThat(InputCheck.checked(file.toString(), csv)).isEqualTo(file.toString());
  }

  @Test
  void refusesAFolderOfSeveralFormats() throws IOException {
    Files.createFile(folder.resolve("a.csv"));
    Files.createFile(folder.resolve("b.json"));
    assertRefused(folder, "several formats, as a.csv and b.json", "'%s/*.csv'".formatted(folder));
  }

  /** Such as {@code run[1].npy}, which a browser writes. */
  @Test
  void quotesCharactersOfPatternsInTheNameOfAFile() throws IOException {
    Path file = Files.createFile(folder.resolve("run[1].npy"));
    assertThat(InputCheck.checked(file.toString(), new InputOptions()))
        .isEqualTo(folder + "/run\\[1\\].npy");
  }
}
