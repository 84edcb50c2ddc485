// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnResidentCluster;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.ResidentShard;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stores that are dropped while rows are loaded into them: 2 executors of 2 slots. */
@Tag("system")
@Timeout(300)
@Tag("slow")
class DropInChangesTest extends OnResidentCluster {
  private static final int ROWS = 100;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Rows that no process frees stay for a minute. */
  private static final Duration BELOW_LEASE = ResidentShards.LEASE.dividedBy(2);

  private Evidence evidence;

  @BeforeEach
  void look() {
    evidence = new Evidence(directory);
    cluster.inEverySlot(rows -> 0);
    cluster.executors();
  }

  /** Rows that do not come as long as the gate is closed, and say so. */
  private Dataset<Row> gated() {
    Evidence notes = evidence;
    UDF1<Long, Long> gate =
        id -> {
          if (notes.has("closed") && !notes.has("open")) {
            notes.note("inside", "");
            notes.awaitNote("open");
          }
          return id;
        };
    return cluster
        .session()
        .range(0, ROWS, 1, 2)
        .select(functions.udf(gate, DataTypes.LongType).apply(functions.col("id")).as("id"));
  }

  private ResidentStore load(Dataset<Row> rows) {
    return DDStores.from(rows).ranks(2).load("train");
  }

  private void dropInside(ResidentStore store, Runnable change) {
    evidence.note("closed", "");
    CompletableFuture<Void> running = CompletableFuture.runAsync(change);
    try {
      evidence.awaitNote("inside");
      store.drop();
      assertThat(running).as("the change of the store").isNotDone();
    } finally {
      evidence.note("open", "");
    }
    assertThatThrownBy(() -> running.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("dropped: ResidentStore[train:");
    await("what was loaded meanwhile is freed")
        .atMost(BELOW_LEASE)
        .untilAsserted(
            () ->
                cluster
                    .inEverySlot(rows -> Leftovers.ofThisProcess())
                    .forEach(Leftovers::assertNone));
    assertThat(DDStores.list(cluster.session())).isEmpty();
  }

  @Test
  void anAppendReportsTheDropAndLeavesNothing() {
    ResidentStore store = load(cluster.session().range(ROWS).toDF());
    dropInside(store, () -> store.append(gated()));
  }

  @Test
  void aRepairReportsTheDropAndLeavesNothing() {
    ResidentStore store = load(gated());
    String victim = store.shards().get(1).executorId();
    cluster.killExecutor(victim);
    await("the driver knows that the executor is lost")
        .atMost(PATIENCE)
        .until(() -> store.shards().stream().anyMatch(ResidentShard::isLost));
    dropInside(store, store::repair);
  }
}
