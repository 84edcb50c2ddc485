// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.time.Duration;

/** Knows how to run ranks over one backend; all that the contract knows of a backend. */
public interface RankHarness extends AutoCloseable {
  /**
   * Runs a scenario on each rank, and afterwards looks for what it left behind.
   *
   * @param timeout of the collectives of the store's group
   * @throws AssertionError if a rank failed or something is left, with what the rank said
   */
  void run(int ranks, Duration timeout, Scenario scenario) throws Exception;

  /** Has the JVMs of ranks optimise their code in runs with slow tests. Called before any run. */
  default void optimiseCode() {
    // Ranks that are threads have the options of the JVM of the test.
  }

  /** Ends what runs ranks, and checks that nothing of theirs is left. */
  @Override
  void close() throws IOException;
}
