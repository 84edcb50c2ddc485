// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arguments of {@code ./ddstore notebook}. */
class NotebookCommandTest {
  @TempDir private Path folder;

  private void parse(String... arguments) throws IOException {
    new NotebookCommand(folder, folder).parse(List.of(arguments));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--quiet | unknown argument \"--quiet\", legal: --port, --execute, --output, --executors, --cores, --memory, --master, --conf, --torch",
        "--torch --port | --port needs a value",
        "--port 65536 | --port: \"65536\" is not a number in [1, 65535]",
        "--execute none.ipynb | --execute: \"none.ipynb\" is not a file that can be read",
        "--output . | --output: \".\" is a folder: name a file in it",
        "--output out.html | --output: the name \"out.html\" does not end with .ipynb",
        "--output none/out.ipynb | --output: the folder of \"none/out.ipynb\" does not exist",
        "--memory 449 | --memory: \"449\" is not a number in [450, 999999999]",
        "--executors 0 | --executors: \"0\" is not a number in [1, 1024]",
        "--cores two | --cores: \"two\" is not a number in [1, 1024]",
        "--output out.ipynb | --output needs --execute",
        "--conf key | --conf: \"key\" is not KEY=VALUE"
      })
  void refusesIllegalArguments(String arguments, String problem) {
    assertThatThrownBy(() -> parse(arguments.split(" ", -1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(problem);
  }

  @Test
  void refusesWhatDoesNotFit() throws IOException {
    Path notebook = Files.writeString(folder.resolve("a.ipynb"), "{\"nbformat\": 4}");
    assertThatThrownBy(() -> parse("--execute", notebook.toString(), "--port", "1"))
        .hasMessage("--port cannot be used with --execute");
    Path other = Files.writeString(folder.resolve("b.ipynb"), "{}");
    assertThatThrownBy(() -> parse("--execute", other.toString()))
        .hasMessageEndingWith(" is not a notebook of Jupyter (.ipynb)");
    assertThatThrownBy(() -> parse("--master", "")).hasMessage("--master: the URL is empty");
    assertThatThrownBy(() -> parse("--conf", "a=b\nc"))
        .hasMessage("--conf: the value has several lines");
  }
}
