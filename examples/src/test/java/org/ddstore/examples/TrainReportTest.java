// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.util.CollectionAccumulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrainReportTest {
  @ParameterizedTest
  @CsvSource({
    "1, true",
    "NaN, false",
    "2 1, true",
    "1 2, false",
    "2 2, false",
    "3 4 2, true",
    "2 NaN, false"
  })
  void comparesTheLastLossWithTheFirst(String losses, boolean isSound) {
    List<Double> values = Stream.of(losses.split(" ", -1)).map(Double::valueOf).toList();
    List<String> receipts = values.stream().map(loss -> "all").toList();

    TrainReport report =
        new TrainReport("train", List.of(new Trained(0, values, receipts, true, List.of("a"))));

    assertThat(report.isSound()).isEqualTo(isSound);
    assertThat(report.toText()).contains(isSound ? "Learned on" : "Did not learn on");
  }

  /** A heartbeat has all lines of a task so far, and may be lost; a later attempt starts again. */
  @Test
  void printsEachEpochOnceAndInOrder() {
    List<String> printed = new ArrayList<>();
    EpochLines lines = new EpochLines(null, new CollectionAccumulator<>(), printed::add);
    EpochLines.Reporter first = new EpochLines.Reporter(new CollectionAccumulator<>());
    first.note(0, 2, "Resumed at epoch 3");
    first.note(1, 2, "of another rank");
    first.epoch(1, 3, "of another rank");
    lines.print(first.lines().value());
    first.epoch(0, 3, "loss 3");
    lines.print(first.lines().value());
    lines.print(first.lines().value());
    first.epoch(0, 4, "loss 4"); // is not heard of

    EpochLines.Reporter second = new EpochLines.Reporter(new CollectionAccumulator<>());
    for (int epoch = 1; epoch <= 4; epoch++) {
      second.epoch(0, epoch, "loss " + epoch);
    }
    second.note(0, 4, "Resumed at epoch 5, in attempt 2");
    second.epoch(0, 5, "loss 5");
    lines.print(second.lines().value());
    lines.print(first.lines().value()); // comes late

    assertThat(printed)
        .containsExactly(
            "Resumed at epoch 3",
            "Epoch  3  loss 3",
            "Epoch  4  loss 4",
            "Resumed at epoch 5, in attempt 2",
            "Epoch  5  loss 5");
  }
}
