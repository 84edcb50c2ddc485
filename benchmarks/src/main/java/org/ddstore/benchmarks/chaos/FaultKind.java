// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.Locale;

/** A fault of a process, of the memory or of the network. */
enum FaultKind {
  NONE(0, 0),
  /** SIGKILL of an executor; a new one takes its place. */
  KILL(0, 15),
  /** SIGSTOP of an executor, then SIGCONT. */
  STOP(30, 5),
  /** SIGSTOP of the driver, then SIGCONT. */
  PAUSE(30, 5),
  /** No space in shared memory. */
  FULL(10, 5),
  /** Speculative execution of tasks. */
  SPECULATION(0, 5),
  /** No free descriptors in an executor. */
  DESCRIPTORS(10, 5),
  /** No packet between two hosts. */
  LINK(30, 15);

  private final int maxSeconds;
  private final int graceSeconds;

  /**
   * @param maxSeconds longest duration, 0 if the fault ends by itself
   * @param graceSeconds time after its end in which operations may fail because of it
   */
  FaultKind(int maxSeconds, int graceSeconds) {
    this.maxSeconds = maxSeconds;
    this.graceSeconds = graceSeconds;
  }

  int maxSeconds() {
    return maxSeconds;
  }

  int graceSeconds() {
    return graceSeconds;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
