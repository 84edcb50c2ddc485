// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Map;

/**
 * The rank of a reader in its world.
 *
 * @param rank in [0, world)
 * @param world number of ranks, at least 1
 */
public record WorldRank(int rank, int world) {
  /** Variable that launchers of training jobs set. */
  private static final String RANK = "RANK";

  private static final String WORLD_SIZE = "WORLD_SIZE";

  /**
   * Rejects a rank outside its world.
   *
   * @param rank in [0, world)
   * @param world number of ranks, at least 1
   */
  public WorldRank {
    Checks.atLeastOne(world, "world");
    if (rank < 0 || rank >= world) {
      throw new IllegalArgumentException("rank %d outside [0, %d)".formatted(rank, world));
    }
  }

  /**
   * Reads the environment variables {@code RANK} and {@code WORLD_SIZE}.
   *
   * @return rank and number of ranks
   * @throws IllegalStateException if one is not set or not a number
   */
  public static WorldRank fromEnvironment() {
    return from(System.getenv());
  }

  static WorldRank from(Map<String, String> environment) {
    return new WorldRank(number(environment, RANK), number(environment, WORLD_SIZE));
  }

  private static int number(Map<String, String> environment, String name) {
    String value = environment.get(name);
    try {
      return Integer.parseInt(String.valueOf(value).strip());
    } catch (NumberFormatException e) {
      throw new IllegalStateException(
          value == null
              ? "environment variable %s is not set: set %s and %s, or give rank and world"
                  .formatted(name, RANK, WORLD_SIZE)
              : "environment variable %s=%s is not a number".formatted(name, value),
          e);
    }
  }

  /** Returns the begin of a rank's part of {@code size} elements; for rank = world the end. */
  static long first(long size, long rank, long world) {
    // Equals rank * size / world, without its overflow.
    return size / world * rank + size % world * rank / world;
  }

  @Override
  public String toString() {
    return "rank %d of %d".formatted(rank, world);
  }
}
