// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import org.ddstore.examples.vae.VaeCommand;
import org.ddstore.local.EmbeddedSpark;

/**
 * Runs the command {@code example vae} several times on one Spark of four executors, which load
 * PyTorch once. Each argument is the arguments of one run, separated by blanks.
 */
final class VaeSeries {
  private static final int EXECUTORS = 4;
  private static final int EXECUTOR_MEMORY_MB = 1024;

  private VaeSeries() {}

  /** Exits with the first exit status that is not 0. */
  public static void main(String[] runs) {
    int status = 0;
    EmbeddedSpark spark = EmbeddedSpark.open("vae", EXECUTORS, 1, EXECUTOR_MEMORY_MB);
    try (spark) {
      for (int i = 0; i < runs.length && status == 0; i++) {
        status = ExampleArguments.parser(new VaeCommand()).execute(runs[i].split(" ", -1));
      }
    }
    System.exit(status);
  }
}
