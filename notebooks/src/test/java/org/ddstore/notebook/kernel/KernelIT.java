// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.ddstore.notebook.kernel.JupyterClient.Execution;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel with two executors, driven by a client of Jupyter. */
@Tag("slow")
@Tag("system")
class KernelIT {
  @TempDir private static Path folder;
  private static JupyterClient client;

  @BeforeAll
  static void start() throws Exception {
    JupyterClient.require();
    client = JupyterClient.start(folder, "--executors", "2", "--cores", "1");
    Execution first =
        client.execute(
            """
            import org.apache.spark.api.java.function.*;
            Dataset<Row> frame = spark.range(100).selectExpr("id", "cast(id as float) as x");
            ResidentStore store = DDStores.from(frame).load("train");""");
    assertThat(first.reply().get("status").asText()).as(first.toString()).isEqualTo("ok");
    assertThat(first.outputs("execute_result")).isEmpty();
    assertThat(first.printed())
        .containsPattern("Spark started in \\d+ s; Spark UI: http://127\\.0\\.0\\.1:\\d+\n");
  }

  @AfterAll
  static void shutdown() throws IOException {
    if (client != null) {
      try {
        client.shutdown();
      } finally {
        client.close();
      }
    }
  }

  @Test
  void codeOfCellsRunsInTwoOtherProcesses() throws IOException {
    client.execute(
        """
        record Place(int rank, long pid, int factor, float last) implements java.io.Serializable {}
        class Work implements RankTask<Place> {
          final int factor;
          Work(int factor) { this.factor = factor; }
          @Override public Place run(RankContext context) {
            try (Reader reader = context.rows().reader("x"); Batch batch = reader.getBatch(3, 99)) {
              return new Place(context.rank(), ProcessHandle.current().pid(), twice(factor), batch.field("x").getFloat(1));
            }
          }
        }
        int twice(int x) { return 2 * x; }
        int factor = 21;
        RankTask<Place> lambda = context -> new Work(factor).run(context);
        factor = 0;
        List<Place> places = store.run(lambda);
        Set<Long> processes = places.stream().map(Place::pid).collect(Collectors.toSet());""");
    assertThat(
            client
                .execute(
                    "processes.size() + \" \" + processes.contains(ProcessHandle.current().pid())")
                .result())
        .isEqualTo("2 false");
    assertThat(client.execute("ProcessHandle.current().pid()").result())
        .isEqualTo(Long.toString(client.kernel()));
    assertThat(
            client
                .execute(
                    "places.stream().map(each -> each.rank() + \" \" + each.factor() + \" \" + each.last()).toList()")
                .result())
        .isEqualTo("[0 42 99.0, 1 42 99.0]");
    assertThat(
            client
                .execute(
                    "frame.orderBy(\"id\").limit(2).map((MapFunction<Row, Long>) row -> row.getLong(0) + factor + 1, Encoders.LONG()).collectAsList()")
                .result())
        .isEqualTo("[1, 2]");
  }

  @Test
  void failuresOnExecutorsNameTheCell() throws IOException {
    List<String> error =
        client
            .execute(
                "int hidden = 3;\nint read() {\n  return hidden;\n}\nstore.run(context -> read())")
            .error();
    assertThat(error)
        .anyMatch(line -> line.contains("variable \"hidden\" of a cell is not available"))
        .anyMatch(line -> line.matches("    at cell \\d+, line 3: return hidden;"))
        .noneMatch(line -> line.contains("org.apache.spark.scheduler"));
    // The job runs when the result is shown.
    assertThat(
            client
                .execute(
                    "int zero = 0;\nframe.map(\n    (MapFunction<Row, Long>) row -> 1L / zero, Encoders.LONG())")
                .error())
        .anyMatch(line -> line.endsWith("java.lang.ArithmeticException: / by zero"))
        .anyMatch(line -> line.matches("    at cell \\d+, line 3: \\(MapFunction.*"))
        .hasSizeLessThan(10);
  }

  @Test
  void showsPicturesTablesAndText() throws IOException {
    Execution cell =
        client.execute(
            "System.out.println(\"pränt\"); display(frame.limit(1)); System.err.println(2); store");
    assertThat(cell.outputs())
        .extracting(each -> each.get("type").asText())
        .containsExactly("stream", "display_data", "stream", "execute_result");
    assertThat(cell.outputs().get(0).get("text").asText()).isEqualTo("pränt\n");
    assertThat(cell.outputs().get(1).at("/data/text~1plain").asText())
        .isEqualTo("+---+---+\n| id|  x|\n+---+---+\n|  0|0.0|\n+---+---+");
    assertThat(cell.result()).contains("train: 100 rows");
    JsonNode charts =
        client
            .execute(
                """
                XYChart chart = QuickChart.getChart("a", "b", "c", "d", new double[] {1}, new double[] {2});
                chart""")
            .outputs("execute_result")
            .get(0)
            .get("data");
    assertThat(charts.get("text/plain").asText()).isEqualTo("a");
    assertThat(charts.get("image/png").asText()).startsWith("iVBORw0KGgo"); // of each PNG
    assertThat(client.execute("new int[][] {{1}, {2, 3}}").result()).isEqualTo("[[1], [2, 3]]");
  }

  @Test
  void showsWhatSparkPrintsInEachCell() throws IOException {
    for (String value : List.of("0", "1")) {
      Execution cell = client.execute("spark.sql(\"select %s as x\").show();".formatted(value));
      assertThat(cell.printed())
          .isEqualTo("+---+\n|  x|\n+---+\n|  %s|\n+---+\n\n".formatted(value));
    }
  }

  @Test
  void sparkUiListensOnLoopbackOnly() throws IOException {
    URI ui = URI.create(client.execute("spark.sparkContext().uiWebUrl().get()").result());
    HttpURLConnection page = (HttpURLConnection) ui.resolve("/jobs/").toURL().openConnection();
    assertThat(page.getResponseCode()).isEqualTo(200);
    for (InetAddress address : InetAddress.getAllByName(InetAddress.getLocalHost().getHostName())) {
      if (!address.isLoopbackAddress()) {
        assertThatThrownBy(() -> new Socket(address, ui.getPort()).close())
            .isInstanceOf(ConnectException.class);
      }
    }
  }

  @Test
  void pythonIsAnsweredWithOneSentence() throws IOException {
    assertThat(client.execute("import numpy as np\nnp.zeros(3)").error())
        .singleElement(STRING)
        .contains("Python is not available");
  }

  @Test
  void runsSql() throws IOException {
    assertThat(
            client
                .execute(
                    "%%sql\nuse ddstore; -- a; b\nuse spark_catalog;\nselect max(x) as most, ';' as s from ddstore.train; -- end")
                .result())
        .contains("|most|  s|", "|99.0|  ;|");
    assertThat(client.execute("%%sql\nselect y from ddstore.train").error().get(0))
        .contains("AnalysisException", "`y`");
  }

  @Test
  void completesCode() throws IOException {
    JsonNode found = client.ask("complete", Map.of("code", "€ = 1; store.sam", "cursor_pos", 16));
    assertThat(found.get("matches").toString()).contains("sample(");
    assertThat(found.get("cursor_start").asInt()).isEqualTo(13);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "store.run(context -> { Thread.sleep(600_000); return 0; })",
        "while (true) { }",
        "spark.range(0, 2, 1, 2).map((MapFunction<Long, Long>) i -> { Thread.sleep(600_000); return i; }, Encoders.LONG())"
      })
  void interruptEndsCodeAndJobs(String endless) throws IOException {
    client.ask(
        "send", Map.of("codes", List.of("System.out.println(\"begun\"); " + endless, "1", "2")));
    client.ask("await output", Map.of("text", "begun"));
    client.ask("interrupt", Map.of());
    JsonNode replies = client.ask("replies", Map.of()).get("replies");
    assertThat(replies.get(0).get("ename").asText()).isEqualTo("Interrupted");
    assertThat(replies.get(1).get("status").asText()).as("waiting cell").isEqualTo("aborted");
    assertThat(replies.get(2).get("status").asText()).isEqualTo("aborted");
    assertThat(client.execute("store.run(context -> context.rank())").result()).isEqualTo("[0, 1]");
  }
}
