// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.cli.Launcher;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./ddstore notebook --execute}. */
@Tag("slow")
@Tag("system")
class NotebookCommandIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  @BeforeAll
  static void requireJupyter() {
    boolean isThere =
        List.of(System.getenv("PATH").split(":", -1)).stream()
            .anyMatch(path -> Files.isExecutable(Path.of(path, "jupyter-nbconvert")));
    Needed.check("Jupyter", isThere, () -> "no jupyter-nbconvert on the path");
  }

  private Path notebook(String... cells) throws IOException {
    List<Object> all = new ArrayList<>();
    for (String code : cells) {
      Map<String, Object> cell =
          new HashMap<>(
              Map.of(
                  "cell_type",
                  "code",
                  "id",
                  "cell" + all.size(),
                  "metadata",
                  Map.of(),
                  "outputs",
                  List.of(),
                  "source",
                  code));
      cell.put("execution_count", null);
      all.add(cell);
    }
    Path file = folder.resolve("some book.ipynb");
    JSON.writeValue(
        file.toFile(),
        Map.of("cells", all, "metadata", Map.of(), "nbformat", 4, "nbformat_minor", 5));
    return file;
  }

  private Outcome execute(Path notebook, String... options) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of("notebook", "--execute", notebook.toString(), "--master", "local[1]"));
    arguments.addAll(List.of(options));
    return new Launcher(folder).run(arguments.toArray(new String[0]));
  }

  @Test
  void writesTheOutputsOfAllCells() throws Exception {
    Path output = folder.resolve("out.ipynb");
    Outcome done =
        execute(
            notebook(
                "%%sql\nshow tables in ddstore",
                "int n = 2;\nspark.range(n)",
                "spark.conf().get(\"spark.app.name\") + spark.conf().get(\"my.key\")"),
            "--output",
            output.toString(),
            "--conf",
            "my.key=a \"b\" \\c");
    assertThat(done.exitCode()).as(done.err()).isZero();

    String text = Files.readString(output);
    JsonNode cells = JSON.readTree(text).get("cells");
    assertThat(cells.get(1).at("/outputs/0/data/text~1html").toString()).contains("<th>id</th>");
    assertThat(cells.get(2).at("/outputs/0/data/text~1plain/0").asText())
        .isEqualTo("ddstore notebooka \"b\" \\c");
    assertThat(text).as("paths of this machine").doesNotContain(ROOT.toString(), folder.toString());
  }

  @Test
  void failsWithTheErrorOfACell() throws Exception {
    Path output = folder.resolve("out.ipynb");
    Outcome failed =
        execute(notebook("int zero = 0;", "int n = 1 / zero;"), "--output", output.toString());
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err())
        .contains(
            "java.lang.ArithmeticException: / by zero\n    at cell 2, line 1: int n = 1 / zero;")
        .contains("ddstore: notebook: ")
        .doesNotContain("Traceback");
    assertThat(output).doesNotExist();
  }
}
