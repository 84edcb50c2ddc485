// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Set;
import org.ddstore.mpi.NeedsMpi;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors whose first ranks fail before they are in an MPI world: 2 with a rank each. */
@Tag("system")
@NeedsMpi
@Timeout(300)
@Tag("slow")
@Tag("always")
class MpiFailedLoadTest extends OnTestCluster {
  private static final int RANKS = 2;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(RANKS, 1, 512);
  }

  private static StoreSpec numbers() {
    return DDStores.from(numberedRows())
        .ranks(RANKS)
        .transport("mpi")
        .collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  @Test
  void survivorsOfAFailedLoadAreKept() {
    assertThatThrownBy(() -> numbers().field("x", DType.FLOAT32, 3).run(OnTestCluster::readAll))
        .isInstanceOf(IngestException.class);
    Set<Long> left = cluster.executors();
    long victim = left.iterator().next();
    kill(victim);
    left.remove(victim);
    await("the driver knows that it is lost, and has another one")
        .atMost(Duration.ofMinutes(2))
        .until(() -> !cluster.executors().contains(victim) && hasAll());

    assertThat(numbers().maxAttempts(1).run(OnTestCluster::readAll)).containsExactly(SUM, SUM);
    assertThat(cluster.executors()).as("executors").hasSize(RANKS).containsAll(left);
  }

  private static boolean hasAll() {
    return ClusterFacts.of(cluster.session().sparkContext()).executors().size() == RANKS;
  }
}
