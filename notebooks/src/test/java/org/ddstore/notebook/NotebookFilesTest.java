// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The committed notebooks: executed, small, and the same on every machine. */
class NotebookFilesTest {
  private static final int MOST_BYTES = 300 << 10;
  private static final int MOST_PICTURE_BYTES = 60 << 10;

  /** A path below a folder that some machines have, unless a word or a path comes before it. */
  private static final String MACHINE_PATH =
      "(?<![\\w.])/(root|home|tmp|work|Users|var|opt|mnt|dev/shm)/|file:/";

  static List<NotebookFile> notebooks() throws IOException {
    return NotebookFile.ofProject();
  }

  @ParameterizedTest
  @MethodSource("notebooks")
  void hasTheFormOfJupyter(NotebookFile notebook) {
    JsonNode json = notebook.json();
    assertThat(json.get("nbformat").asText() + "." + json.get("nbformat_minor").asText())
        .isEqualTo("4.5");
    assertThat(json.at("/metadata/kernelspec/name").asText()).isEqualTo("ddstore");
    assertThat(NotebookFile.text(notebook.cells().get(0).get("source"))).startsWith("# ");
    assertThat(notebook.cells())
        .extracting(cell -> cell.get("id").asText())
        .as("ids of cells")
        .doesNotHaveDuplicates()
        .allMatch(id -> id.matches("[a-z][a-z0-9-]*"));
  }

  @ParameterizedTest
  @MethodSource("notebooks")
  void wasExecutedFromTheFirstToTheLastCell(NotebookFile notebook) {
    assertThat(notebook.codeCells())
        .extracting(cell -> cell.get("execution_count").asInt())
        .as("numbers of executed cells")
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, notebook.codeCells().size()).boxed().toList());
    assertThat(notebook.codeCells())
        .flatExtracting(cell -> cell.findValuesAsText("output_type"))
        .contains("execute_result")
        .doesNotContain("error");
    assertThat(notebook.codeCells())
        .flatExtracting(cell -> cell.get("outputs").findValuesAsText("name"))
        .as("streams")
        .doesNotContain("stderr");
  }

  @ParameterizedTest
  @MethodSource("notebooks")
  void isSmallAndNamesNoMachine(NotebookFile notebook) throws IOException {
    assertThat(Files.size(notebook.path())).as("bytes").isLessThanOrEqualTo(MOST_BYTES);
    for (JsonNode cell : notebook.codeCells()) {
      assertThat(cell.get("outputs").findValuesAsText("image/png"))
          .as("pictures of cell %s", cell.get("id"))
          .allMatch(base64 -> base64.length() <= MOST_PICTURE_BYTES * 4 / 3);
    }
    assertThat(notebook.json().toString())
        .doesNotContainPattern(MACHINE_PATH)
        .doesNotContain("<progress");
  }
}
