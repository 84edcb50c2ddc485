// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** A contract and the ranks that it runs on; a subclass chooses both. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
@Tag("always")
public abstract class RankContract implements Contract {
  private final int ranks;
  private RankHarness harness;

  /**
   * @param ranks how many, at least 2
   */
  protected RankContract(int ranks) {
    this.ranks = ranks;
  }

  /** Called once; this class closes it. */
  protected abstract RankHarness createHarness() throws Exception;

  @BeforeAll
  void start() throws Exception {
    harness = createHarness();
    if (optimisesCode()) {
      harness.optimiseCode();
    }
  }

  /** Returns whether ranks in JVMs of their own optimise their code in runs with slow tests. */
  protected boolean optimisesCode() {
    return false;
  }

  @AfterAll
  void end() throws Exception {
    harness.close();
  }

  @Override
  public final int ranks() {
    return ranks;
  }

  @Override
  public final void run(int size, Duration timeout, Scenario scenario) throws Exception {
    harness.run(size, timeout, scenario);
  }
}
