package org.ddstore.spark;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/**
 * Two executors with two slots each, in which no test leaves anything: no thread, buffer or file.
 * Threads of the network are looked for at the end of the class; after each test where tests end
 * executors.
 */
abstract class OnTwoExecutors extends OnTestCluster {
  @BeforeAll
  static void start() {
    cluster = TestCluster.shared(2, 2, Map.of());
  }

  /** Whether tests end executors, so that each looks for what is left of the network, too. */
  boolean endsExecutors() {
    return false;
  }

  /** Final, since one of a subclass would run before the other clean-up of its superclasses. */
  @AfterEach
  final void nothingIsHeld() {
    if (endsExecutors()) {
      cluster.assertNothingLeft();
    } else {
      cluster.assertNothingHeld();
    }
  }

  @AfterAll
  static void nothingIsLeft() {
    cluster.assertNothingLeft();
  }
}
