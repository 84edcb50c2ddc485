// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
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
}
