// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.time.Duration;

/** The error messages of a group, derived from the ranks' lanes. */
final class Diagnosis {
  private Diagnosis() {}

  static Failure mismatch(Lane[] lanes, int rank, long round) {
    return new Failure(
        Failure.Kind.MISMATCH,
        rank,
        "rank 0 called %s, but rank %d called %s"
            .formatted(called(lanes[0], round), rank, called(lanes[rank], round)));
  }

  static Failure lost(Lane[] lanes, int rank, long call) {
    return new Failure(
        Failure.Kind.LOST,
        rank,
        "the process of rank %d has ended; it %s".formatted(rank, where(lanes[rank], call)));
  }

  private static Failure closed(Lane[] lanes, int rank, long call) {
    return new Failure(
        Failure.Kind.RANK_FAILED,
        rank,
        "rank %d closed its communicator; it %s".formatted(rank, where(lanes[rank], call)));
  }

  /**
   * Returns the failure that a rank has announced, a cause before a mere close. A rank that
   * completed this call has seen that all ranks arrived in its last round. An announcement made
   * after that belongs to the next call, even if it arrives here before the last piece of another
   * rank.
   *
   * @return null if no rank has announced a failure that ends this call
   */
  static Failure announced(Lane[] lanes, long call) {
    for (Lane lane : lanes) {
      if (lane.state() == Lane.BROKEN && lane.finished() < call) {
        return lane.failure();
      }
    }
    for (int r = 0; r < lanes.length; r++) {
      if (lanes[r].state() == Lane.CLOSED && lanes[r].finished() < call) {
        return closed(lanes, r, call);
      }
    }
    return null;
  }

  static Failure interrupted(int rank, String call) {
    return new Failure(
        Failure.Kind.INTERRUPTED, rank, "rank %d was interrupted in %s".formatted(rank, call));
  }

  static Failure threw(int rank, String call, String thrown) {
    return new Failure(
        Failure.Kind.RANK_FAILED, rank, "rank %d failed in %s: %s".formatted(rank, call, thrown));
  }

  static Failure aborted(int rank, Throwable reason) {
    return new Failure(
        Failure.Kind.RANK_FAILED,
        rank,
        "rank %d aborted its collectives: %s".formatted(rank, reason));
  }

  static Failure deadline(Lane[] lanes, long round, long call, Duration timeout) {
    StringBuilder missing = new StringBuilder();
    int first = -1;
    for (int r = 0; r < lanes.length; r++) {
      if (!lanes[r].hasPosted(round)) {
        first = first < 0 ? r : first;
        missing.append(missing.length() == 0 ? "" : "; ").append("rank ").append(r).append(' ');
        missing.append(where(lanes[r], call));
      }
    }
    return new Failure(
        Failure.Kind.DEADLINE,
        first,
        "not all %d ranks arrived in call %d within %d ms: %s"
            .formatted(lanes.length, call, timeout.toMillis(), missing));
  }

  private static String called(Lane lane, long round) {
    long call = lane.call(round);
    return "%s (call %d, digest %016x)".formatted(lane.callText(call), call, lane.digest(round));
  }

  /**
   * Returns the last action of a rank, as seen by a rank in {@code call}, which knows that all
   * ranks arrived in every earlier call: news of their completion travels with other messages.
   */
  private static String where(Lane lane, long call) {
    long entered = lane.entered();
    long finished = Math.max(lane.finished(), Math.min(entered, call - 1));
    if (entered > finished) {
      return "is in call %d, %s".formatted(entered, lane.callText(entered));
    }
    return finished == 0
        ? "has not called any collective"
        : "finished call %d, %s, and has not called again"
            .formatted(finished, lane.callText(finished));
  }
}
