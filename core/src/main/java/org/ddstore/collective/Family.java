package org.ddstore.collective;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The groups that one rank has split from one another: what ends the rank ends it in all. */
final class Family {
  private final Set<Rounds> members = ConcurrentHashMap.newKeySet();
  private volatile Thread splitter; // the first thread that split a group
  private volatile boolean severalThreads;

  void add(Rounds rounds) {
    members.add(rounds);
    if (severalThreads) {
      rounds.markSeveralThreads();
    }
  }

  /** After this its lanes may be freed: nobody looks at them any more. */
  synchronized void remove(Rounds rounds) {
    members.remove(rounds);
  }

  /** Tells the ranks of all groups that this one gave up. */
  void giveUp(Throwable reason) {
    members.forEach(rounds -> rounds.fail(Diagnosis.gaveUp(rounds.rank(), reason)));
  }

  /** A thread is about to split a group: from now on there are several. */
  synchronized void splitBy(Thread thread) {
    if (splitter == null) {
      splitter = thread;
    }
  }

  /** A thread is about to call a collective of one of the groups. */
  void calledBy(Thread thread) {
    if (splitter != null && splitter != thread && !severalThreads) {
      severalThreads = true;
      members.forEach(Rounds::markSeveralThreads);
    }
  }

  /**
   * Finds a rank that the calling thread waits for in one group, and that itself waits for this
   * rank in another: neither will come, because each has but one thread that calls collectives.
   *
   * @param waiting the group in which the calling thread waits
   * @return null if there is none
   */
  synchronized CrossWait findCrossWait(Rounds waiting) {
    if (severalThreads) {
      return null;
    }
    for (int rank = 0; rank < waiting.size(); rank++) {
      for (Rounds other : members) {
        int there = other == waiting ? -1 : other.rankOfOrigin(waiting.origin(rank));
        if (there >= 0 && other.isAwaitedBy(there) && !waiting.hasCome(rank)) {
          return new CrossWait(waiting, rank, other, there);
        }
      }
    }
    return null;
  }

  /**
   * Breaks all groups for a rank that waits for this one in another group.
   *
   * @return why the group breaks in which the calling thread waits; null if the other group has
   *     been closed meanwhile
   */
  Failure breakBy(CrossWait found) {
    Map<Rounds, Failure> failures = new HashMap<>();
    synchronized (this) { // the lanes of members are there
      if (!members.contains(found.other())) {
        return null;
      }
      members.forEach(rounds -> failures.put(rounds, found.failure(rounds)));
    }
    failures.forEach(Rounds::fail);
    return failures.get(found.waiting());
  }
}
