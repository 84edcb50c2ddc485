package org.ddstore.spark.job;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.SparkContext;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces all executors of MPI worlds that are of no use any more: their processes are members for
 * good, so only fresh ones can make the next world. What they have cached goes with them, and
 * shards of resident stores.
 */
public final class WorldReplacement {
  private static final Logger LOG = LoggerFactory.getLogger(WorldReplacement.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private WorldReplacement() {}

  /**
   * Ends those of the executors that still run, and returns when they are gone; the cluster manager
   * starts others. Blocks; returns at once if there is nothing to replace. {@link
   * MpiWorlds#isRefilling} says afterwards that slots are missing for a while.
   *
   * @throws DDStoreException if they do not go
   */
  static void replace(SparkContext context, MpiWorlds worlds, ResidentView stores) {
    Set<String> old = worlds.toReplace(executors(context));
    if (old.isEmpty()) {
      return;
    }
    if (context.isLocal()) {
      throw stuck(old, "they are this JVM");
    }
    LOG.warn(
        "replacing executors {}: their MPI world has lost a member, or not all ranks are in it",
        old);
    stores.lossWith(old).forEach(loss -> LOG.warn("with executors {} {}", old, loss));
    worlds.refilling(true);
    List<String> refused =
        old.stream().filter(id -> !context.killAndReplaceExecutor(id)).sorted().toList();
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    for (Set<String> left = old; !left.isEmpty(); left = present(context, old)) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw stuck(
            left,
            refused.isEmpty()
                ? "they have not ended within %d s".formatted(PATIENCE.toSeconds())
                : "the cluster manager did not take the order to end %s".formatted(refused));
      }
      ClusterFacts.pause("executors are replaced");
    }
  }

  private static DDStoreException stuck(Set<String> executors, String why) {
    return new DDStoreException(
        "executors %s are in an MPI world that has lost a member, or that not all ranks are in, and %s: start the application again"
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
