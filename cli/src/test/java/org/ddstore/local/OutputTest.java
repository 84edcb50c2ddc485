// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class OutputTest {

  @Test
  void progressBarIsSilentWithoutATerminal() {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(said, true, UTF_8);
    System.setOut(both);
    System.setErr(both);
    try (Progress progress = Progress.open("reading", 10)) {
      progress.stepTo(10);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    assertThat(said.toString(UTF_8)).isEmpty();
  }

  @Test
  void wrapsLinesOfATerminalBelowTheirText() {
    assertThat(Output.wrapped("WARNING  " + "word ".repeat(20).strip()).lines())
        .containsExactly(
            "WARNING  " + "word ".repeat(14).strip(), "         " + "word ".repeat(6).strip());
    assertThat(Output.wrapped("x".repeat(100))).isEqualTo("x".repeat(100));
  }

  @Test
  void coloursMarksIfATerminalWantsIt() {
    assertThat(Colour.of("PROBLEM  no slot", true)).startsWith("\u001B[31mPROBLEM\u001B[");
    assertThat(Colour.of("PROBLEM  no slot", false)).isEqualTo("PROBLEM  no slot");
    assertThat(Colour.of("rows", true)).isEqualTo("rows");
  }
}
