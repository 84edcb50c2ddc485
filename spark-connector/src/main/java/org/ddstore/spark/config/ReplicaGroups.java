// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import java.io.Serializable;
import java.util.stream.IntStream;
import org.ddstore.collective.GroupEndpoint;

/**
 * The division of ranks into replica groups of {@code width} consecutive ranks, each of which holds
 * one full copy of the data. Group 0 loads the data; rank i of every other group copies the shard
 * of rank i of group 0.
 *
 * @param width number of ranks of a group, a divisor of the number of ranks
 */
public record ReplicaGroups(int ranks, int width) implements Serializable {
  public static final int MAX_RANKS = GroupEndpoint.MAX_SIZE;

  public ReplicaGroups {
    if (width < 1 || width > ranks || ranks % width != 0) {
      throw new IllegalArgumentException(
          "setting %s is %d, legal for %d ranks: %s"
              .formatted(
                  Setting.WIDTH.key(),
                  width,
                  ranks,
                  IntStream.rangeClosed(1, ranks).filter(w -> ranks % w == 0).boxed().toList()));
    }
  }

  /** Returns the number of groups, which is the number of copies of the data. */
  public int groups() {
    return ranks / width;
  }

  public int groupOf(int rank) {
    return rank / width;
  }

  /** Returns the position of a rank in its group, in [0, width). */
  public int memberOf(int rank) {
    return rank % width;
  }

  public int[] members() {
    return IntStream.range(0, ranks).map(this::memberOf).toArray();
  }

  /** Returns whether a rank loads its shard from the DataFrame. */
  public boolean loads(int rank) {
    return groupOf(rank) == 0;
  }
}
