package org.ddstore.spark.job;

import java.util.Arrays;
import java.util.List;
import org.ddstore.spark.config.ReplicaGroups;

/**
 * Which rank of a replica group copies which shard, so that the copies of a shard are in different
 * executors as far as that is possible: one that is lost must not take all of them. Rank i copies
 * shard i unless that helps.
 */
public final class CopyPlacement {
  private static final int NONE = -1;

  private final int width;
  private final List<String> executors;

  /** The shard of each rank. */
  private final int[] members;

  private CopyPlacement(ReplicaGroups groups, List<String> executors) {
    this.width = groups.width();
    this.executors = executors;
    this.members = groups.members();
  }

  /**
   * The same on all ranks.
   *
   * @param executors of each rank
   * @return the shard, of [0, width), of each rank
   */
  public static int[] of(ReplicaGroups groups, List<String> executors) {
    CopyPlacement placement = new CopyPlacement(groups, executors);
    for (int first = groups.width(); first < groups.ranks(); first += groups.width()) {
      placement.match(first);
    }
    return placement.members;
  }

  /** A largest matching of the ranks of a group with shards (Kuhn's algorithm); the rest follow. */
  private void match(int first) {
    int[] rankOf = new int[width];
    Arrays.fill(rankOf, NONE);
    for (int i = 0; i < width; i++) {
      find(first, i, rankOf, new boolean[width]);
    }
    boolean[] placed = new boolean[width];
    Arrays.stream(rankOf).filter(rank -> rank != NONE).forEach(rank -> placed[rank] = true);
    int free = 0;
    for (int member = 0; member < width; member++) {
      if (rankOf[member] == NONE) {
        while (placed[free]) {
          free++;
        }
        placed[free] = true;
        rankOf[member] = free;
      }
      members[first + rankOf[member]] = member;
    }
  }

  private boolean find(int first, int rank, int[] rankOf, boolean[] tried) {
    for (int next = 0; next < width; next++) {
      int member = (rank + next) % width;
      if (tried[member] || isHeldBefore(first, member, executors.get(first + rank))) {
        continue;
      }
      tried[member] = true;
      if (rankOf[member] == NONE || find(first, rankOf[member], rankOf, tried)) {
        rankOf[member] = rank;
        return true;
      }
    }
    return false;
  }

  /** Whether an executor has the shard from a group before this one. */
  private boolean isHeldBefore(int first, int member, String executor) {
    for (int rank = 0; rank < first; rank++) {
      if (members[rank] == member && executors.get(rank).equals(executor)) {
        return true;
      }
    }
    return false;
  }
}
