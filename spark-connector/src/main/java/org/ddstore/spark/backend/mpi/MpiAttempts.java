// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.ddstore.spark.backend.AttemptPolicy;
import org.ddstore.spark.backend.FailedAttempt;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.types.FrozenMembershipException;
import org.ddstore.types.RankLostException;

/** The record of MPI worlds around the attempts of a job, and the replacement of lost ones. */
final class MpiAttempts implements AttemptPolicy {
  private static final String FRESH_WORLD =
      ". MPI membership is frozen: all executors of this world are replaced";

  private final SparkContext context;
  private final MpiWorlds worlds;
  private final int ranks;
  private final Function<Set<String>, List<String>> lossWith;

  /**
   * @param lossWith describes the rows of resident stores that end with executors
   */
  MpiAttempts(SparkContext context, int ranks, Function<Set<String>, List<String>> lossWith) {
    this.context = context;
    this.worlds = MpiWorlds.of(context);
    this.ranks = ranks;
    this.lossWith = lossWith;
  }

  @Override
  public boolean canReplaceExecutors() {
    return true;
  }

  /** Live members of a lost world keep its memory, and stopped members do not end by themselves. */
  @Override
  public void replaceExecutors() {
    WorldReplacement.replace(context, worlds, lossWith);
  }

  @Override
  public Optional<String> warning(Collection<String> executors) {
    return worlds.advice(executors, ranks);
  }

  @Override
  public Optional<SharedLoss> succeeded(Supplier<Set<String>> executors) {
    Set<String> world = executors.get();
    worlds.recordWorld(world);
    return Optional.of(sharedLoss(world));
  }

  @Override
  public String failed(FailedAttempt attempt) {
    if (needsFreshWorld(attempt)) {
      worlds.markForReplacement(attempt.executors());
      return FRESH_WORLD;
    }
    if (attempt.failures().stream().noneMatch(BeforeWorld::isMarked)) {
      worlds.recordPossibleWorld(attempt.executors());
    }
    return "";
  }

  /**
   * Returns whether the executors must be replaced before they can form an MPI world: an executor
   * was lost, ranks found the process of another rank lost, or they are in different worlds.
   */
  static boolean needsFreshWorld(FailedAttempt attempt) {
    return attempt.hasLostExecutor()
        || attempt.failures().stream().anyMatch(MpiAttempts::reportsFrozenMembership);
  }

  private static boolean reportsFrozenMembership(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof RankLostException || each instanceof FrozenMembershipException) {
        return true;
      }
    }
    return false;
  }

  static SharedLoss sharedLoss(Set<String> world) {
    return new SharedLoss(world, "one MPI world");
  }
}
