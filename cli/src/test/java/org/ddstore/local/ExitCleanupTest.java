// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("system")
class ExitCleanupTest {
  /** A program that owns a clean-up and ends in one of several ways. */
  static final class Owner {
    private Owner() {}

    public static void main(String[] args) {
      ExitCleanup cleanup = new ExitCleanup("cleanup", () -> System.out.println("clean"));
      switch (args[0]) {
        case "close" -> cleanup.close();
        case "close twice" -> {
          cleanup.close();
          cleanup.close();
        }
        case "return" -> {}
        case "exit" -> System.exit(0);
        default -> Runtime.getRuntime().addShutdownHook(new Thread(cleanup::close));
      }
      System.out.println("end of main");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "close twice", "return", "exit", "close during the shutdown"})
  void cleansUpOnce(String way) throws IOException, InterruptedException {
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Owner.class.getName(),
                way)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(program.waitFor(1, TimeUnit.MINUTES)).isTrue();
      String output = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(program.exitValue()).isZero();
      assertThat(output.lines().filter(line -> line.equals("clean"))).as(output).hasSize(1);
      if (way.equals("close")) {
        assertThat(output.lines()).containsExactly("clean", "end of main");
      }
    } finally {
      program.destroyForcibly();
    }
  }
}
