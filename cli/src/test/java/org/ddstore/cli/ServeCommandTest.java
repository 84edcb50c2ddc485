// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code serve} refuses before Spark starts. */
class ServeCommandTest {
  @TempDir private Path folder;

  @BeforeEach
  void write() throws IOException {
    Files.writeString(folder.resolve("a.csv"), "id\n1\n");
    Files.writeString(folder.resolve("b.csv"), "id\n2\n");
    Files.writeString(Files.createDirectory(folder.resolve("other")).resolve("a.csv"), "id\n3\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2 | --handle F/h                             | no input: name the data, as in ./ddstore serve PATH
          2 | F/a.csv                                  | Missing required option: '--handle=FILE'
          2 | F/a.csv --handle F/h --nosuch            | Unknown option: '--nosuch'
          2 | F/a.csv --handle F/h --ranks 0           | --ranks: 0 outside [1, 1024]
          2 | F/a.csv F/other/a.csv --handle F/h       | --input F/other/a.csv: the store of F/a.csv has the name "a", too: rename one, or serve it separately
          2 | F/a.csv --handle F/h --listen 0.0.0.0    | --listen 0.0.0.0: no address that other hosts can connect to: choose one of [
          2 | F/a.csv --handle F/h --listen 192.0.2.99 | --listen 192.0.2.99: not an address of this machine: choose one of [
          2 | F/a.csv --handle F/h --listen nosuch!    | --listen nosuch!: no such host: choose one of [
          1 | F/none.csv --handle F/h                  | --input F/none.csv: no such file or directory
          1 | F/a.csv --handle F/none/h                | --handle F/none/h: there is no folder F/none
          1 | F/a.csv --handle F                       | --handle F: is a folder: name the file of the handle
          1 | F/a.csv --handle /proc/h                 | --handle /proc/h: cannot be written:
          1 | F/a.csv --handle F/b.csv                 | --handle F/b.csv: is another file, which would be replaced: this is no handle of a store
          1 | F/a.csv F/b.csv --handle F/b.csv         | --handle F/b.csv: is a file: several inputs need a folder, for one handle each
          """)
  void refusesBadArguments(int exitCode, String arguments, String message) throws IOException {
    Outcome outcome = InProcess.run(inFolder("serve " + arguments).split(" +"));

    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(exitCode);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err()).startsWith("ddstore: " + inFolder(message));
    assertThat(folder.resolve("h")).as("what is left").doesNotExist();
    assertThat(folder.resolve("b.csv")).content().isEqualTo("id\n2\n");
  }

  private String inFolder(String text) {
    return text.replaceAll("\\bF\\b", folder.toString());
  }

  @Test
  void leavesNoFolderOfSeveralHandles() throws IOException {
    Outcome outcome =
        InProcess.command(
            "serve %s %s --handle %s --ranks 0",
            folder.resolve("a.csv"), folder.resolve("b.csv"), folder.resolve("h"));

    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(2);
    assertThat(folder.resolve("h")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "cells.h5ad, cells",
    "/data/train set.parquet/, train_set",
    "s3a://bucket/rows/part-*.parquet, part-",
    "images, images",
    "rows.v2.csv, rows_v2",
    "., data",
    "/*, data",
    "größer, gr_er"
  })
  void namesStoresAfterFiles(String input, String name) {
    assertThat(HandleFiles.nameOf(input)).isEqualTo(name);
  }
}
