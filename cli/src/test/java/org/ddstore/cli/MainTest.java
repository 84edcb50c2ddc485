// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainTest {

  @Test
  void helpListsTheCommandsOfTheLauncher() {
    StringWriter out = new StringWriter();

    int status = Main.commandLine().setOut(new PrintWriter(out)).execute("--help");

    assertThat(status).isZero();
    assertThat(out.toString()).contains("test [--quick]", "format", "--version");
  }

  @Test
  void noCommandIsAUsageError() {
    StringWriter err = new StringWriter();

    int status = Main.commandLine().setErr(new PrintWriter(err)).execute();

    assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).contains("Missing command");
  }
}
