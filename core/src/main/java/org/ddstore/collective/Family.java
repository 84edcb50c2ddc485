package org.ddstore.collective;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The groups that one rank has split from one another: what ends the rank ends it in all. */
final class Family {
  private final Set<Rounds> members = ConcurrentHashMap.newKeySet();

  void add(Rounds rounds) {
    members.add(rounds);
  }

  void remove(Rounds rounds) {
    members.remove(rounds);
  }

  /** Tells the ranks of all groups that this one gave up. */
  void giveUp(Throwable reason) {
    members.forEach(rounds -> rounds.fail(Diagnosis.gaveUp(rounds.rank(), reason)));
  }
}
