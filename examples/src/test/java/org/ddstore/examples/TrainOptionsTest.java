package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TrainOptionsTest {
  @Test
  void optionsMayStandInAnyOrder() {
    assertThat(TrainOptions.parse(List.of())).contains(new TrainOptions(10_000, 5, false));
    assertThat(TrainOptions.parse(List.of("--json", "--epochs", "2", "--rows", "500")))
        .contains(new TrainOptions(500, 2, true));
    assertThat(TrainOptions.parse(List.of("--json", "--help"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--rows 127", "--rows many", "--epochs 0", "--epochs", "--ranks 3"})
  void wrongOnesAreRefusedByName(String arguments) {
    List<String> words = Arrays.asList(arguments.split(" ", -1));
    assertThatThrownBy(() -> TrainOptions.parse(words))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(words.get(0));
  }

  @Test
  void theLegalRangeIsNamed() {
    assertThatThrownBy(() -> TrainOptions.parse(List.of("--rows", "127")))
        .hasMessage("--rows '127' is not a number of [128, 2147483647]");
  }
}
