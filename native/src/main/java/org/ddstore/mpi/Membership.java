// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.FrozenMembershipException;

/**
 * The ranks that want to join one world, and the decision whether they can. Every rank has the same
 * members and reaches the same decision.
 *
 * @param members in rank order
 */
record Membership(List<Member> members) {
  private static final String REMEDY =
      "MPI membership is frozen: replace all executors, or start the application again";

  Membership {
    members = List.copyOf(members);
  }

  static Membership parse(byte[]... members) {
    return new Membership(Arrays.stream(members).map(Member::parse).toList());
  }

  /** Returns whether a rank has exceeded its time to wait. */
  boolean anyLate() {
    return members.stream().anyMatch(Member::late);
  }

  /** Returns whether all JVMs can enter MPI now; false if some are about to enter it. */
  boolean allFree() {
    return members.stream().allMatch(Member::free);
  }

  /** Throws unless all are in one usable world or all in none, with equal MPI settings. */
  void check() {
    for (Member member : members) {
      if (!member.trouble().isEmpty()) {
        throw new FrozenMembershipException(
            "the MPI world of %s is unusable: %s; %s"
                .formatted(member.name(), member.trouble(), REMEDY),
            true);
      }
    }
    Member first = members.get(0);
    for (Member member : members) {
      if (member.world() != first.world()) {
        throw new FrozenMembershipException(
            "MPI worlds differ: %s is in %s, %s in %s; %s"
                .formatted(
                    first.name(), worldName(first), member.name(), worldName(member), REMEDY),
            false);
      }
      if (!member.choices().equals(first.choices())) {
        throw new DDStoreException(
            "MPI settings differ: %s has %s, %s has %s: set the same for all, by spark.executorEnv.NAME=value"
                .formatted(first.name(), first.choices(), member.name(), member.choices()));
      }
    }
  }

  private static String worldName(Member member) {
    return member.world() == 0 ? "no MPI world" : "MPI world " + member.world();
  }

  /**
   * Rejects ranks that share a JVM.
   *
   * @throws DDStoreException with the settings that give each rank its own JVM
   */
  void checkOneRankAProcess() {
    Map<Long, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < members.size(); rank++) {
      Integer other = ranks.putIfAbsent(members.get(rank).process(), rank);
      if (other != null) {
        throw new DDStoreException(
            "ranks %d and %d share the JVM %s, and MPI has one rank a process: give each executor one slot, by spark.task.cpus equal to spark.executor.cores"
                .formatted(other, rank, members.get(rank).name()));
      }
    }
  }

  /** Returns whether the JVMs are already in a world; valid after {@link #check}. */
  boolean isJoined() {
    return members.get(0).world() != 0;
  }

  /** Returns the number of a new world: the number that rank 0 proposes. */
  int job() {
    return members.get(0).job();
  }

  /** Returns the ranks that share memory with {@code rank}, itself included, ascending. */
  int[] clique(int rank) {
    return IntStream.range(0, members.size())
        .filter(r -> Objects.equals(members.get(r).host(), members.get(rank).host()))
        .toArray();
  }

  boolean spansHosts() {
    return members.stream().map(Member::host).distinct().count() > 1;
  }

  boolean haveRdma() {
    return members.stream().allMatch(Member::hasRdma);
  }

  boolean mayReadProcesses() {
    return members.stream().allMatch(Member::mayReadProcesses);
  }

  int[] group(int color) {
    return IntStream.range(0, members.size())
        .filter(r -> members.get(r).color() == color)
        .toArray();
  }
}
