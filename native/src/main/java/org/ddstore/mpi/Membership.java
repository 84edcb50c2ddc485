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
 * The ranks that want to join, and whether they can. Every rank has the same members and comes to
 * the same answer.
 *
 * @param members in the order of the ranks
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

  /** Whether a rank has waited long enough. */
  boolean someLate() {
    return members.stream().anyMatch(Member::late);
  }

  /** Whether all JVMs may enter MPI now; else some are about to with others. */
  boolean allFree() {
    return members.stream().allMatch(Member::free);
  }

  /**
   * Refuses what can be no world.
   *
   * @throws DDStoreException if users have said different things of how MPI is to work
   * @throws FrozenMembershipException if they are not all in one world that works, or all in none
   */
  void check() {
    for (Member member : members) {
      if (!member.trouble().isEmpty()) {
        throw new FrozenMembershipException(
            "the MPI world of %s is of no use any more: %s; %s"
                .formatted(member.name(), member.trouble(), REMEDY),
            true);
      }
    }
    Member first = members.get(0);
    for (Member member : members) {
      if (member.world() != first.world()) {
        throw new FrozenMembershipException(
            "%s is in %s and %s in %s; %s"
                .formatted(
                    first.name(), worldName(first), member.name(), worldName(member), REMEDY),
            false);
      }
      if (!member.choices().equals(first.choices())) {
        throw new DDStoreException(
            "%s has %s, and %s has %s: set the same for all, by spark.executorEnv.NAME=value"
                .formatted(first.name(), first.choices(), member.name(), member.choices()));
      }
    }
  }

  private static String worldName(Member member) {
    return member.world() == 0 ? "no MPI world" : "MPI world " + member.world();
  }

  /**
   * Refuses ranks that share a JVM.
   *
   * @throws DDStoreException with the settings that part them
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

  /** True if the JVMs are in a world already; after {@link #check}. */
  boolean isJoined() {
    return members.get(0).world() != 0;
  }

  /** The number of a new world: that of rank 0. */
  int job() {
    return members.get(0).job();
  }

  /** The ranks that share memory with {@code rank}, itself included, ascending. */
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

  /** The ranks of a group, by their color, ascending. */
  int[] group(int color) {
    return IntStream.range(0, members.size())
        .filter(r -> members.get(r).color() == color)
        .toArray();
  }
}
