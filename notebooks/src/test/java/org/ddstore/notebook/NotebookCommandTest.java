// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arguments of {@code ./ddstore notebook}. */
class NotebookCommandTest {
  @TempDir private Path folder;

  private void parse(String... arguments) throws IOException {
    Files.createDirectories(folder.resolve("notebooks"));
    new NotebookCommand(folder, folder, folder.resolve("data")).parse(List.of(arguments));
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
        "none.ipynb --cores 1 | there is no file \"none.ipynb\", and no notebook of this name in",
        "--output out.ipynb | --output needs --execute",
        "--conf key | --conf: \"key\" is not KEY=VALUE"
      })
  void refusesIllegalArguments(String arguments, String problem) {
    assertThatThrownBy(() -> parse(arguments.split(" ", -1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(problem);
  }

  @Test
  void refusesWhatDoesNotFit() throws IOException {
    Path notebook = Files.writeString(folder.resolve("a.ipynb"), "{\"nbformat\": 4}");
    assertThatThrownBy(() -> parse("--execute", notebook.toString(), "--port", "1"))
        .hasMessage("--port cannot be used with --execute");
    assertThatThrownBy(() -> parse(notebook.toString(), "b.ipynb")).hasMessageStartingWith("two ");
    assertThatThrownBy(() -> parse("--execute", notebook.toString(), "a.ipynb"))
        .hasMessageContaining("\"a.ipynb\"");
    assertThatThrownBy(() -> parse(folder.toString())).hasMessageEndingWith("can be read");
    Path other = Files.writeString(folder.resolve("b.ipynb"), "{}");
    assertThatThrownBy(() -> parse("--execute", other.toString()))
        .hasMessageEndingWith(" is not a notebook of Jupyter (.ipynb)");
    assertThatThrownBy(() -> parse("--master", "")).hasMessage("--master: the URL is empty");
    assertThatThrownBy(() -> parse("--conf", "a=b\nc"))
        .hasMessage("--conf: the value has several lines");
  }

  @Test
  void copiesNotebooksAndKeepsEditedOnes() throws IOException {
    Path original = Files.createDirectory(folder.resolve("notebooks")).resolve("1-a.ipynb");
    Files.writeString(original, "\"nbformat\" 1");
    NotebookFolder notebooks =
        new NotebookFolder(original.getParent(), folder.resolve("data/notebooks"));
    Path own = notebooks.folder().resolve("1-a.ipynb");
    Path beside = notebooks.folder().resolve("1-a-2.ipynb");
    parse("1-a.ipynb"); // which is copied later
    assertThat(own).doesNotExist();

    assertThat(notebooks.update()).isEmpty();
    assertThat(own).hasSameBinaryContentAs(original);
    assertThat(notebooks.find("1-a.ipynb")).isEqualTo(own);
    Files.writeString(original, "2");
    assertThat(notebooks.update()).as("not edited").isEmpty();
    assertThat(own).hasContent("2");

    Files.writeString(own, "edited");
    assertThat(notebooks.update()).as("nothing newer").isEmpty();
    Files.writeString(original, "3");
    assertThat(notebooks.update()).singleElement(STRING).contains("1-a.ipynb", "1-a-2.ipynb");
    assertThat(own).hasContent("edited");
    assertThat(beside).hasContent("3");
    Files.writeString(beside, "edited, too");
    Files.writeString(original, "4");
    assertThat(notebooks.update()).hasSize(1);
    assertThat(beside).hasContent("edited, too");
    assertThat(notebooks.update()).isEmpty();
    Files.delete(own);
    assertThat(notebooks.update()).isEmpty();
    assertThat(own).hasContent("4");
  }

  @ParameterizedTest
  @CsvSource({
    "/data, /data/ddstore",
    "'', /home/a/.local/share/ddstore",
    "relative, /home/a/.local/share/ddstore"
  })
  void notebooksAreDataOfTheUser(String data, String expected) {
    assertThat(NotebookFolder.userData(Map.of("XDG_DATA_HOME", data, "HOME", "/home/a")))
        .hasToString(expected);
  }
}
