// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The groups of one rank that were split from one another; they end together. */
final class SplitGroups {
  private final Set<Rounds> members = ConcurrentHashMap.newKeySet();
  private volatile Thread splitter; // the first thread that split a group
  private volatile boolean severalThreads;

  void add(Rounds rounds) {
    members.add(rounds);
    if (severalThreads) {
      rounds.markSeveralThreads();
    }
  }

  /** Removes a group, whose lanes can be freed afterwards. */
  synchronized void remove(Rounds rounds) {
    members.remove(rounds);
  }

  /** Tells the ranks of all groups that this rank aborted its collectives. */
  void abort(Throwable reason) {
    members.forEach(rounds -> rounds.fail(Diagnosis.aborted(rounds.rank(), reason)));
  }

  /** Records that a thread is about to split a group, after which there are several. */
  synchronized void splitBy(Thread thread) {
    if (splitter == null) {
      splitter = thread;
    }
  }

  /** Records that a thread is about to call a collective of one of the groups. */
  void calledBy(Thread thread) {
    if (splitter != null && splitter != thread && !severalThreads) {
      severalThreads = true;
      members.forEach(Rounds::markSeveralThreads);
    }
  }

  /**
   * Finds a rank that the calling thread waits for in one group and that itself waits for this rank
   * in another. Neither will arrive, because each has only one thread that calls collectives.
   *
   * @param waiting group in which the calling thread waits
   * @return null if there is none
   */
  synchronized CrossWait findCrossWait(Rounds waiting) {
    if (severalThreads) {
      return null;
    }
    for (int rank = 0; rank < waiting.size(); rank++) {
      for (Rounds other : members) {
        int otherRank = other == waiting ? -1 : other.rankOfOrigin(waiting.origin(rank));
        if (otherRank >= 0 && other.isAwaitedBy(otherRank) && !waiting.hasBegunCall(rank)) {
          return new CrossWait(waiting, rank, other, otherRank);
        }
      }
    }
    return null;
  }

  /** Breaks all groups; returns the failure of the waiting one, or null if the other has closed. */
  Failure breakBy(CrossWait found) {
    Map<Rounds, Failure> failures = new HashMap<>();
    synchronized (this) { // lanes of members cannot be freed meanwhile
      if (!members.contains(found.other())) {
        return null;
      }
      members.forEach(rounds -> failures.put(rounds, found.failure(rounds)));
    }
    failures.forEach(Rounds::fail);
    return failures.get(found.waiting());
  }
}
