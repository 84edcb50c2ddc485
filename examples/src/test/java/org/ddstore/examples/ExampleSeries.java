// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.util.Arrays;
import org.ddstore.examples.vae.PythonVae;
import org.ddstore.examples.vae.VaeCommand;
import org.ddstore.local.EmbeddedSpark;
import picocli.CommandLine;

/**
 * Runs examples on one Spark of four executors, which load PyTorch once. Each argument is the name
 * and the arguments of one run, separated by blanks.
 */
final class ExampleSeries {
  private static final int EXECUTORS = 4;
  private static final int EXECUTOR_MEMORY_MB = 1024;

  private ExampleSeries() {}

  /** Exits with the first exit status that is not 0. */
  public static void main(String[] runs) {
    int status = 0;
    EmbeddedSpark spark = EmbeddedSpark.open("examples", EXECUTORS, 1, EXECUTOR_MEMORY_MB);
    try (spark) {
      for (int i = 0; i < runs.length && status == 0; i++) {
        String[] words = runs[i].split(" ", -1);
        status = command(words[0]).execute(Arrays.copyOfRange(words, 1, words.length));
      }
    }
    System.exit(status);
  }

  private static CommandLine command(String name) {
    return switch (name) {
      case "vae" -> ExampleArguments.parser(new VaeCommand());
      case "graph" -> Graph.command();
      case "sparse" -> Sparse.command();
      case "python" -> new CommandLine(new PythonVae());
      default -> throw new IllegalArgumentException("no such example: " + name);
    };
  }
}
