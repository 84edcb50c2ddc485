// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/**
 * Two executors with two slots each, in which no test leaves anything: no thread, buffer or file.
 * Threads of the network, which Netty ends two seconds later, are looked for at the end of the
 * class.
 */
public abstract class OnTwoExecutors extends OnTestCluster {
  @BeforeAll
  protected static void start() {
    cluster = TestCluster.shared(2, 2, Map.of());
  }

  /** Final, since one of a subclass would run before the other clean-up of its superclasses. */
  @AfterEach
  protected final void assertNothingHeld() {
    cluster.assertNothingHeld();
  }

  @AfterAll
  protected static void assertNothingLeft() {
    cluster.assertNothingLeft();
  }
}
