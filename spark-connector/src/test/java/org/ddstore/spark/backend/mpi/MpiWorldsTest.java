// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** The choice of executors to replace, by the driver's observations of them. */
class MpiWorldsTest {
  private final MpiWorlds worlds = new MpiWorlds();

  @Test
  void replacesNothingWithoutALoss() {
    worlds.recordWorld(Set.of("0", "1", "2"));
    worlds.recordWorld(Set.of("0", "1"));
    worlds.recordPossibleWorld(Set.of("1", "2"));

    assertThat(worlds.toReplace(Set.of("0", "1", "2", "3"))).isEmpty();
  }

  @Test
  void replacesMembersThatHadNoRankInTheJob() {
    worlds.recordWorld(Set.of("0", "1", "2"));
    worlds.recordWorld(Set.of("3", "4"));
    worlds.markForReplacement(Set.of("0", "1")); // a job on a part of the world lost one of them

    assertThat(worlds.toReplace(Set.of("1", "2", "3", "4", "5"))).containsExactly("1", "2");
    assertThat(worlds.toReplace(Set.of("3", "4", "5", "6", "7"))).as("afterwards").isEmpty();
  }

  @Test
  void replacesAllWorldsOfTheLostJob() {
    worlds.recordWorld(Set.of("0", "1"));
    worlds.recordWorld(Set.of("2", "3"));
    worlds.markForReplacement(Set.of("1", "2", "4"));

    assertThat(worlds.toReplace(Set.of("0", "1", "2", "3", "4", "5")))
        .containsExactly("0", "1", "2", "3", "4");
  }

  @Test
  void detectsALossBetweenStores() {
    worlds.recordWorld(Set.of("0", "1", "2"));

    assertThat(worlds.toReplace(Set.of("0", "2", "3"))).containsExactly("0", "2");
  }

  @Test
  void treatsTheExecutorsOfAFailedStoreAsAWorld() {
    worlds.recordPossibleWorld(Set.of("0", "1"));
    assertThat(worlds.toReplace(Set.of("1", "2"))).containsExactly("1");

    worlds.recordPossibleWorld(Set.of("2", "3"));
    worlds.recordWorld(Set.of("3", "4")); // so they were not
    assertThat(worlds.toReplace(Set.of("3", "4"))).isEmpty();
  }

  @Test
  void advisesOnExecutorsOutsideOfTheWorld() {
    Set<String> present = Set.of("0", "1", "2");
    assertThat(worlds.advice(present, 3)).isEmpty();
    assertThat(worlds.advice(present, 2).orElseThrow())
        .contains("2 ranks leave 1 of 3 executors out")
        .contains("spark.ddstore.ranks=3 for the first store, or 2 executors");

    worlds.recordWorld(present);
    assertThat(worlds.advice(present, 2)).isEmpty();
    assertThat(worlds.advice(Set.of("0", "1", "2", "3"), 2)).isPresent();
  }
}
