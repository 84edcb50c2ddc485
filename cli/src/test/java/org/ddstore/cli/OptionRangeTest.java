// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

class OptionRangeTest {
  private final CommandSpec command = new CommandLine(CommandSpec.create()).getCommandSpec();

  @Test
  void namesTheFirstValueOutsideTheRange() {
    OptionRange.checkAll(command, "--batch", List.of(1, 8, 64), 1, 64);
    assertThatThrownBy(() -> OptionRange.checkAll(command, "--batch", List.of(1, 65, 0), 1, 64))
        .isInstanceOf(ParameterException.class)
        .hasMessage("--batch: 65 outside [1, 64]");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, 3600.5, Double.NaN, Double.POSITIVE_INFINITY})
  void rejectsSecondsOutsideTheRange(double seconds) {
    assertThatThrownBy(() -> OptionRange.checkSeconds(command, seconds))
        .isInstanceOf(ParameterException.class)
        .hasMessage("--seconds: %s outside (0, 3600]".formatted(seconds));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.001, 3600})
  void acceptsSecondsUpToAnHour(double seconds) {
    assertThatNoException().isThrownBy(() -> OptionRange.checkSeconds(command, seconds));
  }
}
