// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.Locale;

/** An operation of a user on a store. */
enum OperationKind {
  LOAD(800, 270),
  APPEND(700, 270),
  REPLACE(800, 270),
  /** A repair after the loss of an executor. */
  REPAIR(3000, 270),
  DROP(40, 60),
  QUERY(400, 150),
  RUN(500, 270),
  EPOCH(500, 270),
  DUMP(500, 270),
  RESTORE(800, 270),
  /** A run on a specification, whose rows are dropped at its end, by one of the transports. */
  TRANSPORT(1200, 270),
  /** A grant, and a Python process that reads by it. */
  PYTHON(500, 150),
  /** A grant, a reader outside of the application, and the end of the grant. */
  REVOKE(100, 120);

  private final int typicalMs;
  private final int deadlineSeconds;

  /**
   * @param typicalMs time of the operation without faults, within which a fault is injected
   * @param deadlineSeconds documented limit with the settings of {@link ChaosSpark}
   */
  OperationKind(int typicalMs, int deadlineSeconds) {
    this.typicalMs = typicalMs;
    this.deadlineSeconds = deadlineSeconds;
  }

  int typicalMs() {
    return typicalMs;
  }

  int deadlineSeconds() {
    return deadlineSeconds;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
