// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class OutputTest {

  @Test
  void printsLinesAndTables() {
    assertThat(outputOf())
        .isEqualTo(
            """
            100% done
            name    rows
            ----  ------
            a          1
            -     200000

            """);
  }

  @Test
  void jsonIsOneObjectOnOneLine() throws IOException {
    String text = outputOf("--json");

    assertThat(text.lines()).hasSize(1);
    JsonNode object = new ObjectMapper().readTree(text);
    assertThat(object.fieldNames())
        .toIterable()
        .containsExactly("command", "machine", "mismatches", "results", "slots");
    assertThat(object.get("command").asText()).isEqualTo("sample");
    assertThat(object.get("machine").get("cores").asInt()).isPositive();
    assertThat(object.get("mismatches").asLong()).isEqualTo(3);
    assertThat(object.get("results").get(0).get("rows").asInt()).isEqualTo(1);
  }

  @Test
  void progressBarIsSilentWithoutATerminal() {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(said, true, UTF_8);
    System.setOut(both);
    System.setErr(both);
    try (Progress progress = Progress.open("reading", 10)) {
      progress.stepTo(10);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    assertThat(said.toString(UTF_8)).isEmpty();
  }

  private static String outputOf(String... arguments) {
    StringWriter out = new StringWriter();
    int status = new CommandLine(new Sample()).setOut(new PrintWriter(out)).execute(arguments);
    assertThat(status).isZero();
    return out.toString();
  }

  @Command(name = "sample")
  private static final class Sample implements Runnable {
    @Mixin private Output output;

    @Override
    public void run() {
      output.line("100% done");
      output.table("name, rows", List.of(List.of("a", 1), Arrays.asList(null, 200_000)));
      output.finish(3, List.of(Map.of("rows", 1)), Map.of("slots", 2));
    }
  }
}
