// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ShardReport;
import org.ddstore.spark.resident.SharedLossWarning;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

class RunWarningsTest {

  private static SparkConf waiting(String wait) {
    return new SparkConf(false).set("spark.locality.wait", wait);
  }

  @Test
  void doesNotWarnOfTheDefaultThatTakesAllSlots() {
    assertThat(RunWarnings.of(OptionalInt.empty(), 4, waiting("0"))).isEmpty();
  }

  @Test
  void doesNotWarnIfASlotIsFree() {
    assertThat(RunWarnings.of(OptionalInt.of(3), 4, waiting("0"))).isEmpty();
  }

  @Test
  void warnsOfRanksThatTakeAllSlots() {
    assertThat(RunWarnings.of(OptionalInt.of(4), 4, waiting("0s")))
        .singleElement()
        .asString()
        .contains("4 ranks take all 4 slots", "every other job", "spark.ddstore.ranks=3");
  }

  @Test
  void warnsOfARankThatTakesTheOnlySlot() {
    assertThat(RunWarnings.ofSlots(1, 1)).get().asString().endsWith("add a slot to keep one free");
  }

  @Test
  void warnsOfConnectionsWithoutAuthentication() {
    SparkConf off = new SparkConf(false);
    SparkConf on = new SparkConf(false).set("spark.authenticate", "true");
    for (String master : new String[] {"spark://host:7077", "local-cluster[2,1,1024]"}) {
      assertThat(RunWarnings.ofAuthentication(master, off))
          .as(master)
          .get()
          .asString()
          .startsWith("setting spark.authenticate is false")
          .contains("the driver or an executor", "the token of a store")
          .contains("set spark.authenticate=true and spark.authenticate.secret,");
    }
    for (String master : new String[] {"local", "local[4]", "local[2,3]"}) {
      assertThat(RunWarnings.ofAuthentication(master, off))
          .as(master)
          .get()
          .asString()
          .contains("connect to the driver, also", "set spark.authenticate=true,");
    }
    assertThat(RunWarnings.ofAuthentication("yarn", off))
        .get()
        .asString()
        .contains("set spark.authenticate=true,");
    for (String master : new String[] {"yarn", "local[4]", "local-cluster[2,1,1024]"}) {
      assertThat(RunWarnings.ofAuthentication(master, on)).as(master).isEmpty();
    }
  }

  @Test
  void warnsOnceInAnApplication() {
    assertThat(AuthenticationWarning.isFirstOf("app-1")).isTrue();
    assertThat(AuthenticationWarning.isFirstOf("app-1")).isFalse();
    assertThat(AuthenticationWarning.isFirstOf("app-1")).isFalse();
    assertThat(AuthenticationWarning.isFirstOf("app-2")).isTrue();
  }

  @Test
  void warnsOfALocalityWait() {
    assertThat(RunWarnings.of(OptionalInt.of(1), 2, new SparkConf(false)))
        .singleElement()
        .asString()
        .contains("spark.locality.wait is 3s", "spark.locality.wait=0");
    assertThat(
            RunWarnings.of(
                OptionalInt.of(1), 2, waiting("3s").set("spark.locality.wait.process", "0")))
        .isEmpty();
  }

  /** Ranks 0 and 1 have one copy, 2 and 3 the other. */
  private static ResidentLayout copiesOn(String... executors) {
    List<ShardReport> shards = new ArrayList<>();
    for (int rank = 0; rank < executors.length; rank++) {
      shards.add(
          new ShardReport(rank % 2, "", rank % 2, 1, 8, 0, 0, executors[rank], "host", "tcp"));
    }
    return ResidentLayout.of(
        Schema.of(Field.fixed("id", DType.INT64)), new ReplicaGroups(4, 2), shards);
  }

  @Test
  void warnsOfReplicasInOneMpiWorld() {
    SharedLoss world = new SharedLoss(Set.of("1", "2"), "one MPI world");
    assertThat(SharedLossWarning.of("train", copiesOn("1", "2", "2", "1"), world))
        .get()
        .asString()
        .contains("all copies of shards of \"train\" are on executors [1, 2] of one MPI world");
    assertThat(SharedLossWarning.of("train", copiesOn("1", "2", "3", "4"), world))
        .as("a world without the copies")
        .isEmpty();
  }
}
