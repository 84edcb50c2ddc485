// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The versions that a store may have. A write that fails leaves the version before it and the one
 * after it; the next read decides. Not thread-safe.
 */
final class StoreModel {
  /** Version of a write that failed, while it is not known whether the write is in force. */
  private Version doubtful;

  private Version current; // null if the store does not exist

  boolean exists() {
    return current != null;
  }

  /** Returns the version before a write in doubt. */
  Version current() {
    return current;
  }

  List<Version> possible() {
    List<Version> possible = new ArrayList<>();
    if (current != null) {
      possible.add(current);
    }
    if (doubtful != null) {
      possible.add(doubtful);
    }
    return possible;
  }

  /** Notes a write that succeeded. */
  void written(Version version) {
    current = version;
    doubtful = null;
  }

  /** Notes a write that threw. */
  void failed(Version after) {
    doubtful = after;
  }

  void dropped() {
    current = null;
    doubtful = null;
  }

  /**
   * Fixes the version by a read of all that tells the versions apart.
   *
   * @return the problem, see {@link #observed}
   */
  Optional<String> settled(Observation observation) {
    Optional<String> problem = observed(observation);
    doubtful = null;
    return problem;
  }

  /**
   * Fixes the version by what a read found.
   *
   * @return the problem, if no version explains the read, or one whose write threw does
   */
  Optional<String> observed(Observation observation) {
    List<Version> explained = observation.explained();
    if (explained.isEmpty()) {
      return Optional.of("%s: %s".formatted(Observation.UNEXPLAINED, observation));
    }
    if (current != null && explained.contains(current)) {
      if (explained.size() == 1) {
        doubtful = null;
      }
      return Optional.empty();
    }
    current = doubtful;
    doubtful = null;
    return Optional.of("a write that threw is in force: " + current);
  }
}
