// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import org.ddstore.cli.Output;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Failures, which all examples report in the same way. */
class ExampleArgumentsTest {
  private final StringWriter err = new StringWriter();

  /** A command that fails while it runs. */
  @Command(name = "failing")
  private static final class Failing implements Callable<Integer> {
    private final RuntimeException failure;

    @SuppressWarnings("UnusedVariable") // Read by the parser.
    @Mixin
    private final Output output = new Output();

    Failing(RuntimeException failure) {
      this.failure = failure;
    }

    @Override
    public Integer call() {
      throw failure;
    }
  }

  private int execute(CommandLine command, String... arguments) {
    return command.setErr(new PrintWriter(err)).execute(arguments);
  }

  private int fail(RuntimeException failure, String... arguments) {
    return execute(ExampleArguments.parser(new Failing(failure)), arguments);
  }

  @Test
  void aFailureIsOneLine() {
    assertThat(fail(new DDStoreException("store needs 8 slots, 2 available"))).isEqualTo(1);
    assertThat(fail(new IllegalStateException("closed\ndetails"))).isEqualTo(1);

    assertThat(err.toString().lines())
        .containsExactly(
            "ddstore: store needs 8 slots, 2 available",
            "ddstore: IllegalStateException: closed (--verbose prints the stack trace)");
  }

  @Test
  void verboseAddsTheStackTrace() {
    assertThat(fail(new DDStoreException("store needs 8 slots"), "--verbose")).isEqualTo(1);

    assertThat(err.toString().lines())
        .startsWith("ddstore: store needs 8 slots")
        .anyMatch(line -> line.startsWith("\tat " + ExampleArgumentsTest.class.getName()));
  }
}
