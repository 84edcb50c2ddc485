// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  @TempDir private Path folder;

  @BeforeAll
  static void requireJupyter() {
    NotebookCommandIT.requireJupyter();
  }

  static List<NotebookFile> notebooks() throws IOException {
    return NotebookFile.ofProject();
  }

  /** {@link Launcher#run} also fails if processes, shared memory or temporary files are left. */
  @ParameterizedTest
  @MethodSource("notebooks")
  void runsAndRepeatsItsOutputs(NotebookFile committed) throws Exception {
    Path output = folder.resolve("executed.ipynb");
    List<String> command =
        new ArrayList<>(List.of("notebook", "--execute", committed.path().toString()));
    command.addAll(List.of("--output", output.toString()));
    command.addAll(committed.options());

    Outcome outcome = new Launcher(folder).run(command.toArray(new String[0]));

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    List<JsonNode> before = committed.codeCells();
    List<JsonNode> now = NotebookFile.read(output).codeCells();
    assertThat(now).hasSameSizeAs(before);
    SoftAssertions all = new SoftAssertions();
    for (int i = 0; i < now.size(); i++) {
      if (!NotebookFile.isMeasured(now.get(i))) {
        all.assertThat(NotebookFile.texts(now.get(i)))
            .as("outputs of cell %s, without the tag \"measured\"", now.get(i).get("id"))
            .isEqualTo(NotebookFile.texts(before.get(i)));
      }
    }
    all.assertAll();
  }
}
