package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadmeOptionsTest {
  @Test
  void optionsMayStandInAnyOrder() {
    assertThat(ReadmeOptions.parse(List.of())).contains(new ReadmeOptions(65_536, 64, 32, true));
    assertThat(
            ReadmeOptions.parse(
                List.of("--no-shortcut", "--nbatch", "0", "--dim", "3", "--num", "7")))
        .contains(new ReadmeOptions(7, 3, 0, false));
    assertThat(ReadmeOptions.parse(List.of("--dim", "3", "-h"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--num 0", "--dim many", "--nbatch -1", "--num", "--width 3"})
  void wrongOnesAreRefusedByName(String arguments) {
    List<String> words = Arrays.asList(arguments.split(" ", -1));
    assertThatThrownBy(() -> ReadmeOptions.parse(words))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(words.get(0));
  }

  @Test
  void aShardIsBounded() {
    assertThatThrownBy(() -> ReadmeOptions.parse(List.of("--num", "1048576", "--dim", "129")))
        .hasMessage(
            "--num 1048576 times --dim 129 are more than 134217728 numbers a rank: take fewer of one of them");
  }
}
