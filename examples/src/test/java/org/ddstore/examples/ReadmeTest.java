// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.ParameterException;

class ReadmeTest {
  private static Readme parse(String... arguments) {
    Readme readme = new Readme();
    ExampleArguments.parser(readme).parseArgs(arguments);
    readme.checkRanges();
    return readme;
  }

  @ParameterizedTest
  @ValueSource(strings = {"--num 0", "--dim many", "--nbatch -1", "--num", "--width 3"})
  void namesTheRejectedOption(String arguments) {
    String[] words = arguments.split(" ", -1);
    assertThatThrownBy(() -> parse(words))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(words[0]);
  }

  @Test
  void limitsTheSizeOfAShard() {
    assertThatThrownBy(() -> parse("--num", "1048576", "--dim", "129"))
        .hasMessage(
            "--num 1048576 times --dim 129 exceeds 134217728 values per rank: lower one of them");
  }
}
