// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
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

  @Test
  void parsesOptionsInAnyOrder() {
    Readme defaults = parse();
    assertThat(defaults.num).isEqualTo(65_536);
    assertThat(defaults.dim).isEqualTo(64);
    assertThat(defaults.nbatch).isEqualTo(32);
    assertThat(defaults.noShortcut).isFalse();

    Readme given = parse("--no-shortcut", "--nbatch", "0", "--dim", "3", "--num", "7");
    assertThat(given.num).isEqualTo(7);
    assertThat(given.dim).isEqualTo(3);
    assertThat(given.nbatch).isZero();
    assertThat(given.noShortcut).isTrue();
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

  @Test
  void helpListsTheOptionsOfExampleAndLauncher() {
    StringWriter out = new StringWriter();
    int exitCode =
        ExampleArguments.parser(new Readme())
            .setOut(new PrintWriter(out))
            .execute("--dim", "3", "-h");

    assertThat(exitCode).isZero();
    assertThat(out.toString())
        .startsWith("Usage: ddstore example readme")
        .contains(
            "--num=N", "--dim=N", "--nbatch=N", "--no-shortcut", "--ranks N", "; 4 by default");
  }
}
