// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

/** Receives the progress of a run. */
@FunctionalInterface
public interface PeerSteps {
  /**
   * A step begins.
   *
   * @param step number of the step, from 0
   * @param all total number of steps
   * @param activity what it does, in a few words
   */
  void begin(int step, int all, String activity);
}
