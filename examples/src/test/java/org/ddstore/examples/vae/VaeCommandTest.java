// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.examples.ExampleArguments;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VaeCommandTest {
  /** Returns the first line that a refused command prints. */
  private static String refusal(String... arguments) {
    StringWriter err = new StringWriter();
    int exitCode =
        ExampleArguments.parser(new VaeCommand()).setErr(new PrintWriter(err)).execute(arguments);
    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).endsWith("See ./ddstore example vae --help\n");
    return err.toString().lines().findFirst().orElse("");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--ranks 0 | --ranks: 0 outside [1, 1000]",
        "--ranks 8 --batch 7 | --batch: 7 outside [8, 1000000]",
        "--epochs 0 | --epochs: 0 outside [1, 10000]",
        "--rows 99 | --rows: 99 outside [100, 1000000]",
        "--checkpoint-every 0 | --checkpoint-every: 0 outside [1, 2147483647]",
        "--rows 200 --input x | --rows: the number of generated images; leave it out with --input",
      })
  void refusesValuesOutOfRange(String arguments, String message) {
    assertThat(refusal(arguments.split(" ", -1))).isEqualTo("ddstore: " + message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--input", "--out", "--checkpoints"})
  void refusesEmptyPaths(String option) {
    assertThat(refusal(option, ""))
        .isEqualTo(
            "ddstore: %s: the path is empty: give one, or omit the option".formatted(option));
  }

  @Test
  void refusesAFolderThatItCannotWrite(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertThat(refusal("--out", file.resolve("inside").toString()))
        .isEqualTo(
            "ddstore: --out: cannot write into the folder %s (Not a directory): give a folder that can be created and written"
                .formatted(file.resolve("inside")));
    assertThat(refusal("--out", file.toString()))
        .isEqualTo(
            "ddstore: --out: cannot write into the folder %s: give a folder that can be created and written"
                .formatted(file));
  }
}
