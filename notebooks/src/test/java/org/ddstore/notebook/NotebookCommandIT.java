// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.CookieManager;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.cli.Launcher;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.ddstore.spark.Browser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./ddstore notebook} with Jupyter. */
@Tag("slow")
@Tag("system")
class NotebookCommandIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final String SAVE = "jp-button[data-command='docmanager:save']";
  private static final String CONTROL_C = "\u0003";

  @TempDir private Path folder;

  @BeforeAll
  static void requireJupyter() {
    boolean isThere =
        List.of(System.getenv("PATH").split(":", -1)).stream()
            .anyMatch(path -> Files.isExecutable(Path.of(path, "jupyter-nbconvert")));
    Needed.check("Jupyter", isThere, () -> "no jupyter-nbconvert on the path");
  }

  private Path notebook(String... cells) throws IOException {
    return notebook(Map.of(), cells);
  }

  private Path notebook(Map<String, ?> metadata, String... cells) throws IOException {
    List<Object> all = new ArrayList<>();
    for (String code : cells) {
      Map<String, Object> cell =
          new HashMap<>(Map.of("cell_type", "code", "id", "cell" + all.size(), "source", code));
      cell.putAll(Map.of("metadata", Map.of(), "outputs", List.of()));
      cell.put("execution_count", null);
      all.add(cell);
    }
    Path file = folder.resolve("some book.ipynb");
    JSON.writeValue(
        file.toFile(),
        Map.of("cells", all, "metadata", metadata, "nbformat", 4, "nbformat_minor", 5));
    return file;
  }

  private Outcome execute(String file, Path output, String... more) throws Exception {
    List<String> all = new ArrayList<>(List.of("notebook", "--execute", file));
    all.addAll(List.of("--output", output.toString(), "--master", "local[1]"));
    all.addAll(List.of(more));
    return new Launcher(folder).run(all.toArray(String[]::new));
  }

  @Test
  void executesANotebook() throws Exception {
    Path output = folder.resolve("out.ipynb");
    String file =
        notebook(
                "%%sql\nshow tables in ddstore",
                "spark.conf().get(\"spark.app.name\") + spark.conf().get(\"my.key\")")
            .toString();
    Outcome done = execute(file, output, "--conf", "my.key=a \"b\" \\c");
    assertThat(done.exitCode()).as(done.err()).isZero();
    assertThat(done.err()).contains("executed: " + output);

    String text = Files.readString(output);
    assertThat(text).as("the same in each run").doesNotContain("tarting Spark", "Spark started");
    JsonNode cells = JSON.readTree(text).get("cells");
    assertThat(cells.get(1).at("/outputs/0/data/text~1plain/0").asText())
        .isEqualTo("ddstore notebooka \"b\" \\c");
    assertThat(text).as("paths of this machine").doesNotContain(ROOT.toString(), folder.toString());
  }

  /** By the distribution's Jupyter, because the packages of Python cannot be installed. */
  @Test
  void failsWithTheErrorOfACell() throws Exception {
    Path output = folder.resolve("out.ipynb");
    String file = notebook("int zero = 0;", "int n = 1 / zero;").toString();
    Outcome failed =
        new Launcher(folder)
            .bash(
                "PIP_NO_INDEX=1 XDG_CACHE_HOME='%s' '%s/ddstore' notebook --execute '%s' --output '%s' --master 'local[1]'"
                    .formatted(folder.resolve("cache"), ROOT, file, output));
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err())
        .contains("ddstore: notebook: notebooks in Java only")
        .contains(
            "java.lang.ArithmeticException: / by zero\n    at cell 2, line 1: int n = 1 / zero;")
        .contains("ddstore: notebook: " + file + " failed")
        .doesNotContain("Traceback");
    assertThat(output).doesNotExist();
  }

  @Test
  void refusesAMissingNotebookAndAFolderThatCannotBeWritten() throws Exception {
    Outcome missing = new Launcher(folder).run("notebook", "2-none.ipynb");
    assertThat(missing.exitCode()).isEqualTo(2);
    assertThat(missing.err())
        .contains("there is no file \"2-none.ipynb\"", "java-1-quickstart.ipynb");

    Launcher launcher = new Launcher(folder);
    ProcessBuilder builder = launcher.builder("notebook");
    builder.environment().put("XDG_DATA_HOME", Files.createFile(folder.resolve("a")).toString());
    Path log = folder.resolve("refused.log");
    Process refused = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(refused.waitFor()).isEqualTo(1);
    assertThat(Files.readString(log)).contains("set XDG_DATA_HOME").doesNotContain("\tat ");
  }

  @Test
  void failsWithTheErrorOfPython() throws Exception {
    String file =
        notebook(
                Map.of(
                    "kernelspec",
                    Map.of("language", "python", "name", "other", "display_name", "Other")),
                """
                from pyspark.sql import SparkSession
                import ddstore.spark
                spark = SparkSession.builder.getOrCreate()
                conf = spark.sparkContext.getConf()
                raise ValueError(conf.get("spark.master"), conf.get("spark.key"), ddstore.spark.list(spark))""")
            .toString();
    Path output = folder.resolve("out.ipynb");
    Outcome failed = execute(file, output, "--conf", "spark.key=a \"b\" \\c");
    Needed.check("Python", !failed.err().contains("is in Python, which"), failed::err);
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err())
        .contains("ValueError: ('local[1]', 'a \"b\" \\\\c', [])")
        .contains("ddstore: notebook: " + file + " failed");
    assertThat(output).doesNotExist();
  }

  @Test
  void servesNotebooksUntilItIsInterruptedTwice() throws Exception {
    Launcher launcher = new Launcher(folder);
    ProcessBuilder builder =
        launcher.builder("notebook", "1-quickstart.ipynb", "--port", Integer.toString(freePort()));
    builder.environment().put("XDG_DATA_HOME", folder.resolve("a b").toString());
    // Without a terminal Jupyter would not ask after ^C.
    builder.command("script", "-qec", String.join(" ", builder.command()), "/dev/null");
    Path log = folder.resolve("jupyter.log");
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    try (ProcessTree processes = ProcessTree.start(builder)) {
      Pattern pattern =
          Pattern.compile("(http://127\\.0\\.0\\.1:\\d+/)(\\S*)\\?token=([0-9a-f]{48})");
      Matcher address =
          await().atMost(LIMIT).until(() -> pattern.matcher(Files.readString(log)), Matcher::find);
      Needed.check("Python", address.group(2).startsWith("lab"), () -> "see " + log);
      HttpRequest.Builder kernels =
          HttpRequest.newBuilder(URI.create(address.group(1) + "api/kernels"))
              .POST(BodyPublishers.ofString("{\"name\": \"ddstore\"}"));
      assertThat(status(kernels)).isEqualTo(403);
      assertThat(status(kernels.header("Authorization", "token " + address.group(3))))
          .as(() -> "log: " + log)
          .isEqualTo(201);
      JsonNode kernelSpecs = JSON.readTree(get(address, "api/kernelspecs").body());
      assertThat(kernelSpecs.get("default").asText()).isEqualTo("python3");
      assertThat(kernelSpecs.get("kernelspecs")).hasSize(2);
      assertThat(JSON.readTree(get(address, "api/contents").body()).findValuesAsText("name"))
          .contains("java-1-quickstart.ipynb", "1-quickstart.ipynb")
          .allMatch(name -> name.isEmpty() || name.endsWith(".ipynb"));
      assertThat(folder.resolve("a b/ddstore/notebooks/java-1-quickstart.ipynb"))
          .hasSameBinaryContentAs(ROOT.resolve("notebooks/java-1-quickstart.ipynb"));
      runAllCells(folder.resolve("a b/ddstore/notebooks/1-quickstart.ipynb"), address.group());

      processes.type(CONTROL_C);
      await().atMost(LIMIT).until(() -> Files.readString(log).contains("(y/[n])"));
      processes.type(CONTROL_C);
      processes.awaitAll(LIMIT);
      processes.assertNothingLeft();
      launcher.assertNoTemporaryFiles();
    }
  }

  /** Runs all cells as a user does, who first clears the outputs that are there. */
  private void runAllCells(Path notebook, String address) throws Exception {
    List<JsonNode> before = NotebooksIT.codeCells(notebook);
    try (Browser browser = Browser.open(Files.createDirectory(folder.resolve("home")), address)) {
      browser.click(SAVE, ""); // there when the notebook is
      browser.click(".lm-MenuBar-itemLabel", "Edit");
      browser.click(".lm-Menu-itemLabel", "Clear Outputs of All Cells");
      awaitLastCell(browser, notebook, JsonNode::isNull);
      browser.click(".lm-MenuBar-itemLabel", "Run");
      browser.click(".lm-Menu-itemLabel", "Run All Cells");
      awaitLastCell(browser, notebook, JsonNode::isInt);
      NotebooksIT.assertSameOutputs(before, NotebooksIT.codeCells(notebook));
    }
  }

  /** Saves until the number of the last cell is as expected. */
  private static void awaitLastCell(Browser browser, Path notebook, Predicate<JsonNode> number) {
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(1))
        .ignoreExceptionsInstanceOf(JsonProcessingException.class) // the file is being written
        .until(
            () -> {
              browser.click(SAVE, "");
              List<JsonNode> cells = NotebooksIT.codeCells(notebook);
              return number.test(cells.get(cells.size() - 1).get("execution_count"));
            });
  }

  private static int status(HttpRequest.Builder request) throws Exception {
    return HttpClient.newHttpClient().send(request.build(), BodyHandlers.discarding()).statusCode();
  }

  private static HttpResponse<String> get(Matcher address, String path) throws Exception {
    String url = "%s%s?token=%s".formatted(address.group(1), path, address.group(3));
    HttpClient client =
        HttpClient.newBuilder()
            .followRedirects(HttpClient.Redirect.NORMAL)
            .cookieHandler(new CookieManager())
            .build();
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
    return client.send(request, BodyHandlers.ofString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
