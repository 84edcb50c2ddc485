// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.ddstore.examples.vae.VaeCommand;
import org.ddstore.local.Output;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Failures and the check of arguments, which all examples share. */
class ExampleArgumentsTest {
  private static final String CHECK_ONLY = "ddstore.example.checkOnly";

  private final StringWriter err = new StringWriter();

  @TempDir private Path folder;

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

  @AfterEach
  void forget() {
    System.clearProperty(CHECK_ONLY);
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

  /** As the launcher runs them before it downloads PyTorch: without Spark. */
  @Test
  void checkOnlyEndsBeforeTheTraining() {
    System.setProperty(CHECK_ONLY, "true");
    String out = folder.resolve("out").toString();

    assertThat(execute(TrainCommand.command(), "--rows", "128")).isZero();
    assertThat(execute(Graph.command(), "--verbose")).isZero();
    assertThat(execute(Sparse.command(), "--epochs", "1")).isZero();
    assertThat(execute(ExampleArguments.parser(new VaeCommand()), "--out", out)).isZero();
    assertThat(err.toString()).isEmpty();
    assertThat(folder.resolve("out")).isEmptyDirectory();

    assertThat(execute(Sparse.command(), "--bogus", "3")).isEqualTo(2);
    assertThat(execute(Graph.command(), "--rows", "1")).isEqualTo(2);
    assertThat(execute(TrainCommand.command(), "--epochs", "0")).isEqualTo(2);
    assertThat(execute(ExampleArguments.parser(new VaeCommand()), "--out", "")).isEqualTo(2);
  }
}
