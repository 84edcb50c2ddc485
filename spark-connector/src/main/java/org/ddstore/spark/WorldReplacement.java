package org.ddstore.spark;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.SparkContext;
import org.ddstore.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces all executors of an MPI world that has lost one: its processes are its members for good,
 * so only fresh ones can make the next world. What they have cached goes with them.
 */
final class WorldReplacement {
  private static final Logger LOG = LoggerFactory.getLogger(WorldReplacement.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private WorldReplacement() {}

  /**
   * Ends those of the executors that still run, and returns when they are gone; the cluster manager
   * starts others. Blocks.
   *
   * @throws DDStoreException if they do not go
   */
  static void replace(SparkContext context, Collection<String> executors) {
    Set<String> members = present(context, executors);
    LOG.warn("replacing executors {}: the MPI world that they are in has lost a member", members);
    members.forEach(context::killAndReplaceExecutor);
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!present(context, members).isEmpty()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new DDStoreException(
            "executors %s are in an MPI world that has lost a member, and have not ended within %d s: start the application again"
                .formatted(present(context, members), PATIENCE.toSeconds()));
      }
      ClusterFacts.pause("executors are replaced");
    }
  }

  private static Set<String> present(SparkContext context, Collection<String> executors) {
    Set<String> present =
        ClusterFacts.of(context).executors().stream()
            .map(ClusterFacts.Executor::id)
            .collect(Collectors.toCollection(HashSet::new));
    present.retainAll(executors);
    return present;
  }
}
