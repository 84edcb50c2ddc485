// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.assertj.core.api.SoftAssertions;
import org.ddstore.cli.Launcher;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Executes each committed notebook with two executors, each in its own JVM. */
@Tag("system")
@Tag("slow")
class NotebooksIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MAX_BYTES = 300 << 10;

  /** A path below a folder that some machines have, unless a word or a path comes before it. */
  private static final String MACHINE_PATH =
      "(?<![\\w.])/(root|home|tmp|work|Users|var|opt|mnt|dev/shm)/|file:/";

  @TempDir private Path folder;

  @BeforeAll
  static void requireJupyter() {
    NotebookCommandIT.requireJupyter();
  }

  static List<Path> notebooks() throws IOException {
    try (Stream<Path> files =
        Files.list(Path.of(System.getProperty("ddstore.root"), "notebooks"))) {
      return files.filter(file -> file.toString().endsWith(".ipynb")).sorted().toList();
    }
  }

  /** Outputs of cells with the tag {@code measured} depend on the time or on the machine. */
  @ParameterizedTest
  @MethodSource("notebooks")
  void runsAndRepeatsItsOutputs(Path notebook) throws Exception {
    List<JsonNode> before = codeCells(notebook);
    assertThat(before)
        .extracting(cell -> cell.get("execution_count").asInt())
        .as("numbers of executed cells")
        .containsExactlyElementsOf(IntStream.rangeClosed(1, before.size()).boxed().toList());
    assertThat(Files.size(notebook)).as("bytes").isLessThanOrEqualTo(MAX_BYTES);
    assertThat(Files.readString(notebook)).doesNotContainPattern(MACHINE_PATH);
    Path output = folder.resolve("executed.ipynb");

    Outcome outcome =
        new Launcher(folder)
            .run("notebook", "--execute", notebook.toString(), "--output", output.toString());

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertSameOutputs(before, codeCells(output));
  }

  static void assertSameOutputs(List<JsonNode> before, List<JsonNode> now) {
    assertThat(now).hasSameSizeAs(before);
    SoftAssertions all = new SoftAssertions();
    for (int i = 0; i < now.size(); i++) {
      if (!now.get(i).at("/metadata/tags").toString().contains("measured")) {
        all.assertThat(texts(now.get(i)))
            .as("outputs of cell %s, without the tag \"measured\"", now.get(i).get("id"))
            .isEqualTo(texts(before.get(i)));
      }
    }
    all.assertAll();
  }

  static List<JsonNode> codeCells(Path notebook) throws IOException {
    JsonNode cells = JSON.readTree(notebook.toFile()).get("cells");
    return StreamSupport.stream(cells.spliterator(), false)
        .filter(cell -> cell.get("cell_type").asText().equals("code"))
        .toList();
  }

  /** Returns the texts that a cell prints and shows, without pictures. */
  private static List<String> texts(JsonNode cell) {
    List<String> texts = new ArrayList<>();
    cell.findValues("text").forEach(text -> texts.add(text.toString()));
    cell.findValues("text/plain").forEach(text -> texts.add(text.toString()));
    return texts;
  }
}
