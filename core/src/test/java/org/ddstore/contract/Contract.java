// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.time.Duration;

/** What the parts of the contract are written against. */
interface Contract {
  /** Of collectives that are to succeed. */
  Duration PATIENCE = Duration.ofMinutes(1);

  /** How many ranks this subclass runs, at least 2. */
  int ranks();

  /** Whether rows of others come over a network, so that they end with their owner's store. */
  default boolean readsOverANetwork() {
    return false;
  }

  void run(int ranks, Duration timeout, Scenario scenario) throws Exception;

  default void run(Scenario scenario) throws Exception {
    run(ranks(), PATIENCE, scenario);
  }

  default void run(int ranks, Scenario scenario) throws Exception {
    run(ranks, PATIENCE, scenario);
  }
}
