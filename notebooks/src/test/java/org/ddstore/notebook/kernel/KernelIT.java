// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.ddstore.notebook.kernel.JupyterClient.Execution;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
            Dataset<Row> frame = spark.range(100).selectExpr("id", "cast(id as float) as x", "'<b>' as text");
            ResidentStore store = DDStores.from(frame.drop("text")).load("train");""");
    assertThat(first.reply().get("status").asText()).as(first.toString()).isEqualTo("ok");
    assertThat(first.outputs("execute_result")).isEmpty();
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
        List<Place> places = store.run(lambda);""");
    assertThat(client.execute("places.stream().map(Place::pid).distinct().count()").result())
        .isEqualTo("2");
    assertThat(
            client
                .execute(
                    "places.stream().anyMatch(each -> each.pid() == ProcessHandle.current().pid())")
                .result())
        .isEqualTo("false");
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
                    "frame.orderBy(frame.columns()[0]).limit(2).map((MapFunction<Row, Long>) row -> row.getLong(0) + factor + 1, Encoders.LONG()).collectAsList()")
                .result())
        .isEqualTo("[1, 2]");
  }

  @Test
  void failureOnAnExecutorNamesVariableAndCell() throws IOException {
    List<String> error =
        client
            .execute(
                "int hidden = 3;\nint read() {\n  return hidden;\n}\nstore.run(context -> read())")
            .error();
    assertThat(error.get(0))
        .contains(
            "variable \"hidden\" has no value on executors, and method \"read\" reads it there: pass the value as a parameter");
    assertThat(error)
        .anySatisfy(
            line ->
                assertThat(line).matches("    at read \\(cell \\d+, line 3\\): return hidden;"));
    assertThat(error).noneMatch(line -> line.contains("org.apache.spark.scheduler"));
  }

  @Test
  void showsTablesPicturesAndText() throws IOException {
    Execution cell =
        client.execute(
            "System.out.println(\"pränt\"); display(frame); display(List.of(1)); System.err.println(2); store");
    assertThat(cell.outputs("stream"))
        .extracting(each -> each.get("name").asText() + each.get("text").asText())
        .contains("stdoutpränt\n", "stderr2\n");
    // A job that takes long has a progress bar, which is displayed as well.
    List<JsonNode> displays =
        cell.outputs("display_data").stream()
            .filter(each -> !each.at("/data/text~1html").asText().startsWith("<progress"))
            .toList();
    JsonNode table = displays.get(0).get("data");
    assertThat(table.get("text/html").asText())
        .contains(
            "<th>bigint</th>", "<td>19</td>", "&lt;b&gt;", "the first 20 rows; there are more")
        .doesNotContain("<td>20</td>", "<b>");
    assertThat(displays.get(1).at("/data/text~1plain").asText()).isEqualTo("[1]");
    assertThat(cell.outputs("execute_result").get(0).at("/data/text~1html").asText())
        .contains("<th>train</th>", "<td>100</td>", "float32");
    assertThat(
            client
                .execute(
                    "QuickChart.getChart(\"a\", \"b\", \"c\", \"d\", new double[] {1}, new double[] {2})")
                .outputs("execute_result")
                .get(0)
                .get("data")
                .fieldNames())
        .toIterable()
        .contains("image/png", "image/svg+xml", "text/plain");
    assertThat(
            client
                .execute(
                    "StoreReader attached = store.handle().attach(); Batch batch = attached.rows().reader().getBatch(5, 7); batch")
                .result())
        .contains("id     int64    [2]    5, 7", "x      float32  [2]    5.0, 7.0", "2 rows");
    client.execute("batch.close(); attached.close();");
  }

  @Test
  void showsWhatSparkPrintsInEachCell() throws IOException {
    for (String value : List.of("0", "1", "2", "3")) {
      Execution cell = client.execute("spark.sql(\"select %s as x\").show();".formatted(value));
      String printed =
          cell.outputs("stream").stream()
              .map(each -> each.get("text").asText())
              .collect(Collectors.joining());
      assertThat(printed).isEqualTo("+---+\n|  x|\n+---+\n|  %s|\n+---+\n\n".formatted(value));
    }
  }

  @Test
  void runsSql() throws IOException {
    assertThat(
            client
                .execute(
                    "%%sql\nuse ddstore; use spark_catalog;\nselect max(x) as most from ddstore.train")
                .result())
        .isEqualTo("most\nfloat\n-----\n99.0\n1 row");
    assertThat(client.execute("%%sql\nselect 1;\nselect y\n  from ddstore.train").error())
        .last()
        .asString()
        .matches("    at cell \\d+, line 3: select y");
    assertThat(client.execute("%help").result()).contains("%%sql");
    assertThat(client.execute("%other").error().get(0))
        .contains("unknown magic \"%other\", legal: %help, %%sql");
  }

  @Test
  void helpsWithCode() throws IOException {
    assertThat(
            client
                .ask("complete", Map.of("code", "€ = 1; store.sam", "cursor_pos", 16))
                .get("matches")
                .toString())
        .contains("sample(");
    JsonNode inspected =
        client.ask("inspect", Map.of("code", "DDStores.from(frame)", "cursor_pos", 11));
    assertThat(inspected.at("/data/text~1plain").asText())
        .isEqualTo("StoreSpec DDStores.from(Dataset<Row> rows)");
    assertThat(client.ask("is_complete", Map.of("code", "if (true) {")).toString())
        .contains("\"incomplete\"", "\"indent\":\"  \"");
    assertThat(client.ask("is_complete", Map.of("code", "int x = )")).toString())
        .contains("\"invalid\"");
  }

  @Test
  void showsProgressUntilJobsEnd() throws IOException {
    Execution cell =
        client.execute(
            "spark.range(0, 2, 1, 2).map((MapFunction<Long, Long>) i -> { Thread.sleep(1500); return i; }, Encoders.LONG()).collectAsList()");
    assertThat(cell.result()).isEqualTo("[0, 1]");
    JsonNode bar = cell.outputs("display_data").get(0);
    assertThat(bar.at("/data/text~1plain").asText())
        .matches("Spark: 1 job, 0 of 1 stages, \\d of 2 tasks");
    assertThat(bar.at("/data/text~1html").asText()).contains("<progress");
    List<JsonNode> updates = cell.outputs("update_display_data");
    assertThat(updates)
        .extracting(each -> each.at("/transient/display_id").asText())
        .containsOnly(bar.at("/transient/display_id").asText());
    assertThat(updates.get(updates.size() - 1).at("/data/text~1html").asText()).isEmpty();
  }

  @Test
  void interruptEndsCodeAndJobs() throws IOException {
    for (String endless :
        List.of(
            "store.run(context -> { Thread.sleep(600_000); return 0; })",
            "while (true) { }",
            "spark.range(0, 2, 1, 2).map((MapFunction<Long, Long>) i -> { Thread.sleep(600_000); return i; }, Encoders.LONG()).collectAsList()")) {
      client.ask(
          "send", Map.of("codes", List.of("System.out.println(\"begun\"); " + endless, "1", "2")));
      client.ask("await output", Map.of("text", "begun"));
      client.ask("interrupt", Map.of());
      JsonNode replies = client.ask("replies", Map.of()).get("replies");
      assertThat(replies.get(0).get("ename").asText()).as(endless).isEqualTo("Interrupted");
      assertThat(replies.get(1).get("status").asText())
          .as("sent before the error")
          .isEqualTo("aborted");
      assertThat(replies.get(2).get("status").asText()).isEqualTo("aborted");
      assertThat(client.execute("store.run(context -> context.rank())").result())
          .isEqualTo("[0, 1]");
    }
  }

  /** A front end asks for a signature while the user types a cell, and the cell then runs. */
  @Test
  void questionsDuringAnInterruptedCellDoNotAbortTheNextOne() throws IOException {
    client.ask("send", Map.of("codes", List.of("System.out.println(\"begun\"); while (true) { }")));
    client.ask("await output", Map.of("text", "begun"));
    client.ask("send inspect", Map.of("code", "Math.max(", "cursor_pos", 9));
    client.ask("interrupt", Map.of());
    JsonNode reply = client.ask("replies", Map.of()).get("replies").get(0);
    assertThat(reply.get("ename").asText()).isEqualTo("Interrupted");
    assertThat(client.execute("6 * 7").result()).isEqualTo("42");
  }
}
