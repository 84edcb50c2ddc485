package org.ddstore.collective;

/**
 * Two ranks that wait for each other in different groups.
 *
 * @param waiting the group in which this rank waits
 * @param rank the other one in that group
 * @param other the group in which that one waits for this rank
 * @param there the other one in that group
 */
record CrossWait(Rounds waiting, int rank, Rounds other, int there) {
  /** Asks for what messages may have been lost, in both groups. */
  void ask() {
    waiting.ask(rank);
    other.ask(there);
  }

  /** How much news of the other rank has come, in both groups; never falls. */
  long[] news() {
    return new long[] {waiting.news(rank), other.news(there)};
  }

  /** Why a group of this rank breaks. */
  Failure failure(Rounds group) {
    int culprit = group.rankOfOrigin(waiting.origin(rank));
    String here = called(waiting, waiting.rank());
    String elsewhere = called(other, there);
    boolean hereFirst = waiting.origin(waiting.rank()) < waiting.origin(rank);
    return new Failure(
        Failure.Kind.MISMATCH,
        culprit < 0 ? group.rank() : culprit,
        "%s, but %s, and each waits for the other (ranks of the group that both were split from)"
            .formatted(hereFirst ? here : elsewhere, hereFirst ? elsewhere : here));
  }

  private static String called(Rounds group, int ofRank) {
    return "rank %d called %s among %d ranks"
        .formatted(group.origin(ofRank), group.callText(ofRank), group.size());
  }
}
