// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.spark.config.ReplicaGroups;

/**
 * The assignment of shards to the ranks of replica groups. It puts the copies of a shard into
 * different executors as far as possible, so that the loss of one executor does not destroy all
 * copies. By default, rank i of a group copies shard i.
 */
public final class CopyPlacement {
  private static final int NONE = -1;

  private final int width;
  private final List<String> executors;

  /** The shard of each rank, in [0, width). */
  private final int[] members;

  /** The shards that each executor holds for earlier groups. */
  private final Map<String, BitSet> held = new HashMap<>();

  /** For each shard, the last search that has tried it. */
  private final int[] triedIn;

  private int search;

  private CopyPlacement(ReplicaGroups groups, List<String> executors) {
    this.width = groups.width();
    this.executors = executors;
    this.members = groups.members();
    this.triedIn = new int[width];
  }

  /**
   * Computes the assignment, which is equal on all ranks.
   *
   * @param executors id of the executor of each rank
   * @return the shard of each rank, in [0, width)
   */
  public static int[] of(ReplicaGroups groups, List<String> executors) {
    CopyPlacement placement = new CopyPlacement(groups, executors);
    placement.hold(0);
    for (int first = groups.width(); first < groups.ranks(); first += groups.width()) {
      placement.match(first);
      placement.hold(first);
    }
    return placement.members;
  }

  /**
   * Computes a maximum matching of the ranks of a group with shards (Kuhn's algorithm), then
   * assigns the remaining shards in order.
   *
   * @param first first rank of the group
   */
  private void match(int first) {
    int[] rankOf = new int[width];
    Arrays.fill(rankOf, NONE);
    for (int i = 0; i < width; i++) {
      search++;
      find(first, i, rankOf);
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

  private boolean find(int first, int rank, int[] rankOf) {
    for (int next = 0; next < width; next++) {
      int member = (rank + next) % width;
      if (triedIn[member] == search || isHeld(executors.get(first + rank), member)) {
        continue;
      }
      triedIn[member] = search;
      if (rankOf[member] == NONE || find(first, rankOf[member], rankOf)) {
        rankOf[member] = rank;
        return true;
      }
    }
    return false;
  }

  /** Returns whether an executor holds a copy of the shard for an earlier group. */
  private boolean isHeld(String executor, int member) {
    BitSet ofExecutor = held.get(executor);
    return ofExecutor != null && ofExecutor.get(member);
  }

  /** Records the shards that the ranks of a group have got. */
  private void hold(int first) {
    for (int rank = first; rank < first + width; rank++) {
      held.computeIfAbsent(executors.get(rank), id -> new BitSet()).set(members[rank]);
    }
  }
}
