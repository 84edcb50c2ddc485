package org.ddstore.spark.config;

import java.io.Serializable;
import java.util.stream.IntStream;

/**
 * Ranks in groups of {@code width} consecutive ones, each of which together holds one full copy of
 * the data. Group 0 loads it; rank i of every other group copies the shard of rank i of group 0.
 *
 * @param ranks how many there are
 * @param width ranks of a group; divides the number of ranks
 */
public record ReplicaGroups(int ranks, int width) implements Serializable {
  /** The most ranks that a store can have. */
  public static final int MAX_RANKS = 1 << 20;

  public ReplicaGroups {
    if (width < 1 || width > ranks || ranks % width != 0) {
      throw new IllegalArgumentException(
          "%s is %d; of %d ranks, legal: %s"
              .formatted(
                  Setting.WIDTH.key(),
                  width,
                  ranks,
                  IntStream.rangeClosed(1, ranks).filter(w -> ranks % w == 0).boxed().toList()));
    }
  }

  /** How many groups there are: copies of the data. */
  public int groups() {
    return ranks / width;
  }

  public int groupOf(int rank) {
    return rank / width;
  }

  /** The place of a rank in its group. */
  public int memberOf(int rank) {
    return rank % width;
  }

  /** The place of each rank in its group. */
  public int[] members() {
    return IntStream.range(0, ranks).map(this::memberOf).toArray();
  }

  /** Whether a rank gets its shard from the DataFrame. */
  public boolean loads(int rank) {
    return groupOf(rank) == 0;
  }
}
