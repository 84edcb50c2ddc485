// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.ExecutorRefill;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replacement of all executors of unusable MPI worlds. A process stays a member of its world
 * until it ends, so only new processes can form the next world. Cached rows and shards of resident
 * stores are lost with the executors.
 */
public final class WorldReplacement {
  private static final Logger LOG = LoggerFactory.getLogger(WorldReplacement.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private WorldReplacement() {}

  /**
   * Ends the executors of unusable worlds and waits until they are gone; the cluster manager starts
   * others. Blocks; returns immediately if there is nothing to replace. Notes it in {@link
   * ExecutorRefill}, because slots are missing until the new executors have registered.
   *
   * @param lossWith describes the rows of resident stores that end with executors
   * @throws DDStoreException if an executor does not end
   */
  static void replace(
      SparkContext context, MpiWorlds worlds, Function<Set<String>, List<String>> lossWith) {
    Set<String> old = worlds.toReplace(executors(context));
    if (old.isEmpty()) {
      return;
    }
    if (context.isLocal()) {
      throw stuck(old, "cannot be replaced, because they are this JVM");
    }
    LOG.warn(
        "executors {} are replaced: their MPI world has lost a member, or not all ranks are in it",
        old);
    lossWith.apply(old).forEach(loss -> LOG.warn("executors {} are replaced: {}", old, loss));
    ExecutorRefill.begin(context);
    List<String> refused =
        old.stream().filter(id -> !context.killAndReplaceExecutor(id)).sorted().toList();
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    for (Set<String> left = old; !left.isEmpty(); left = present(context, old)) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw stuck(
            left,
            refused.isEmpty()
                ? "did not end within %d s".formatted(PATIENCE.toSeconds())
                : "the cluster manager refused to end %s".formatted(refused));
      }
      ClusterFacts.pause("executors are replaced");
    }
  }

  private static DDStoreException stuck(Set<String> executors, String why) {
    return new DDStoreException(
        "executors %s are in an MPI world that has lost a member or lacks ranks, and %s: restart the application"
            .formatted(executors, why));
  }

  private static Set<String> present(SparkContext context, Set<String> executors) {
    Set<String> present = executors(context);
    present.retainAll(executors);
    return present;
  }

  private static Set<String> executors(SparkContext context) {
    Set<String> ids = new TreeSet<>();
    ClusterFacts.of(context).executors().forEach(executor -> ids.add(executor.id()));
    return ids;
  }
}
