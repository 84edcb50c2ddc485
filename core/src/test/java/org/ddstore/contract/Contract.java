// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.Serializable;
import java.time.Duration;
import org.ddstore.DDStore;

/** The environment that each part of the contract runs in. */
interface Contract {
  /** Time-out of collectives that must succeed. */
  Duration PATIENCE = Duration.ofMinutes(1);

  /** Returns the number of ranks that this subclass runs, at least 2. */
  int ranks();

  /** Returns true if rows of other ranks are read over a network and end with the owner's store. */
  default boolean readsOverANetwork() {
    return false;
  }

  void run(int ranks, Duration timeout, Scenario scenario) throws Exception;

  default void run(Scenario scenario) throws Exception {
    run(ranks(), PATIENCE, scenario);
  }

  interface StoreScenario extends Serializable {
    void run(RankEnv rank, DDStore store) throws Exception;
  }

  /** Runs a scenario in which each rank has a store, which is closed at its end. */
  default void runWithStore(StoreScenario scenario) throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open()) {
            scenario.run(rank, store);
          }
        });
  }

  default void run(int ranks, Scenario scenario) throws Exception {
    run(ranks, PATIENCE, scenario);
  }
}
