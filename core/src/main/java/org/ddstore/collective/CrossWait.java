// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/**
 * A pair of ranks that wait for each other in different groups.
 *
 * @param waiting group in which this rank waits
 * @param rank the other rank's number in that group
 * @param other group in which the other rank waits for this rank
 * @param otherRank the other rank's number in that group
 */
record CrossWait(Rounds waiting, int rank, Rounds other, int otherRank) {
  /** Requests messages that may have been lost, in both groups. */
  void ask() {
    waiting.ask(rank);
    other.ask(otherRank);
  }

  /** Returns the number of updates from the other rank, in both groups; never decreases. */
  long[] news() {
    return new long[] {waiting.news(rank), other.news(otherRank)};
  }

  /** Returns why a group of this rank breaks. */
  Failure failure(Rounds group) {
    int cause = group.rankOfOrigin(waiting.origin(rank));
    String here = called(waiting, waiting.rank());
    String elsewhere = called(other, otherRank);
    boolean hereFirst = waiting.origin(waiting.rank()) < waiting.origin(rank);
    return new Failure(
        Failure.Kind.MISMATCH,
        cause < 0 ? group.rank() : cause,
        "%s, but %s, and each waits for the other (ranks of the group that both were split from)"
            .formatted(hereFirst ? here : elsewhere, hereFirst ? elsewhere : here));
  }

  private static String called(Rounds group, int rank) {
    return "rank %d called %s among %d ranks"
        .formatted(group.origin(rank), group.callText(rank), group.size());
  }
}
