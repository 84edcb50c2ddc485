// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collections;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.ddstore.local.Output;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class VaeReportTest {
  /** A command that prints a report. */
  @Command(name = "report")
  private static final class Printing implements Runnable {
    private final VaeReport report;
    @Mixin private final Output output = new Output();

    Printing(VaeReport report) {
      this.report = report;
    }

    @Override
    public void run() {
      report.print(output);
    }
  }

  private static VaeReport report(int ranks, double speed, String resumedAt, double... losses) {
    List<TrainedEpoch> epochs =
        DoubleStream.of(losses)
            .mapToObj(loss -> new TrainedEpoch(loss, loss, 0, true, "all", "tests"))
            .toList();
    List<String> parameters = Collections.nCopies(ranks, "7a365182");
    return new VaeReport(
        IntStream.range(0, ranks)
            .mapToObj(
                rank ->
                    new VaeResult(
                        rank, epochs, speed, 0.5, 1, resumedAt, parameters, Pictures.NONE))
            .toList());
  }

  private static String printed(VaeReport report, String... arguments) {
    StringWriter out = new StringWriter();
    new CommandLine(new Printing(report)).setOut(new PrintWriter(out)).execute(arguments);
    return out.toString();
  }

  @Test
  void comparesTheLastLossWithTheFirst() {
    assertThat(report(2, 9, "", 3, 4, 2).isSound()).isTrue();
    assertThat(report(2, 9, "", 3, 2, 3).isSound()).isFalse();
    assertThat(report(2, 9, "", 3, Double.NaN).isSound()).isFalse();
    assertThat(report(2, 9, "", 3).isSound()).isTrue();
    assertThat(report(2, 9, "", Double.NaN).isSound()).isFalse();
  }

  @Test
  void namesTheRanksAndTheSpeed() {
    assertThat(printed(report(2, 160, "epoch 2, batch 0", 3, 2)).lines())
        .contains(
            "Learned on 2 ranks, which ended with the same parameters (CRC-32 by rank: [7a365182,"
                + " 7a365182])",
            "Resumed at epoch 2, batch 0, in attempt 1",
            "Speed     160 images/s; utilisation 50 %; 0 mismatches");
    assertThat(printed(report(1, 160, "", 3, 2)))
        .contains("Learned on 1 rank, which ended with")
        .doesNotContain("Resumed");
  }

  @Test
  void aCheckpointWithAllEpochsHasNoSpeed() throws IOException {
    VaeReport complete = report(2, 0, "epoch 3, batch 0", 3, 2);

    assertThat(printed(complete))
        .contains(
            "Complete  the checkpoint has 2 epochs, nothing was left to train: raise --epochs to"
                + " continue")
        .doesNotContain("images/s", "Resumed");
    JsonNode json = new ObjectMapper().readTree(printed(complete, "--json"));
    assertThat(json.get("samplesPerSecond").isNull()).isTrue();
    assertThat(json.get("utilisation").isNull()).isTrue();
    assertThat(json.get("finalLoss").asDouble()).isEqualTo(2);
    assertThat(complete.isSound()).isTrue();
  }
}
