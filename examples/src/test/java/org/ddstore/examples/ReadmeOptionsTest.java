// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class ReadmeOptionsTest {
  @Command(name = "readme")
  private static final class Parsed {
    @Mixin private ReadmeOptions options;
  }

  private static ReadmeOptions parse(String... arguments) {
    Parsed parsed = new Parsed();
    ExampleArguments.parser(parsed).parseArgs(arguments);
    parsed.options.checkRanges();
    return parsed.options;
  }

  @Test
  void parsesOptionsInAnyOrder() {
    ReadmeOptions defaults = parse();
    assertThat(defaults.num()).isEqualTo(65_536);
    assertThat(defaults.dim()).isEqualTo(64);
    assertThat(defaults.nbatch()).isEqualTo(32);
    assertThat(defaults.hasShortcut()).isTrue();

    ReadmeOptions given = parse("--no-shortcut", "--nbatch", "0", "--dim", "3", "--num", "7");
    assertThat(given.num()).isEqualTo(7);
    assertThat(given.dim()).isEqualTo(3);
    assertThat(given.nbatch()).isZero();
    assertThat(given.hasShortcut()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--num 0", "--dim many", "--nbatch -1", "--num", "--width 3"})
  void namesTheRejectedOption(String arguments) {
    CommandLines.assertRefused(ReadmeOptionsTest::parse, arguments);
  }

  @Test
  void limitsTheSizeOfAShard() {
    assertThatThrownBy(() -> parse("--num", "1048576", "--dim", "129"))
        .hasMessage(
            "--num 1048576 times --dim 129 exceeds 134217728 values per rank: lower one of them");
  }

  @Test
  void helpListsTheOptionsOfExampleAndLauncher() {
    assertThat(CommandLines.output(new Readme(), "--dim", "3", "-h"))
        .startsWith("Usage: ddstore example readme")
        .contains(
            "--num=N", "--dim=N", "--nbatch=N", "--no-shortcut", "--ranks N", "; 4 by default");
  }
}
