// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class VaeReportTest {
  private static VaeReport report(double... losses) {
    List<TrainedEpoch> epochs =
        DoubleStream.of(losses)
            .mapToObj(loss -> new TrainedEpoch(loss, loss, 0, true, "all", "tests"))
            .toList();
    List<String> parameters = List.of("7a365182");
    return new VaeReport(
        List.of(new VaeResult(0, epochs, 9, 0.5, 1, "", parameters, Pictures.NONE)));
  }

  @Test
  void comparesTheLastLossWithTheFirst() {
    assertThat(report(3, 4, 2).isSound()).isTrue();
    assertThat(report(3, 2, 3).isSound()).isFalse();
    assertThat(report(3, Double.NaN).isSound()).isFalse();
    assertThat(report(3).isSound()).isTrue();
    assertThat(report(Double.NaN).isSound()).isFalse();
  }
}
