// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.cluster.DeviceBinding;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks on workers that say they have one device each; there need not be any. */
@Tag("system")
@Timeout(300)
class DeviceOnExecutorsTest {
  @TempDir private static Path directory;
  private static TestCluster cluster;

  @BeforeAll
  static void start() throws IOException {
    Path discovery = directory.resolve("discover");
    Files.writeString(discovery, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"3\"]}'\n");
    Files.setPosixFilePermissions(discovery, PosixFilePermissions.fromString("rwx------"));
    cluster =
        TestCluster.start(
            2,
            1,
            1024,
            Map.of(
                "spark.worker.resource.gpu.amount", "1",
                "spark.worker.resource.gpu.discoveryScript", discovery.toString(),
                "spark.executor.resource.gpu.amount", "1",
                "spark.task.resource.gpu.amount", "1",
                "spark.executorEnv.LOCAL_RANK", "7"));
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static StoreSpec numbers() {
    return DDStores.from(cluster.session().range(10).toDF()).ranks(2).maxAttempts(1);
  }

  private static BatchSampler sampler() {
    return Samplers.sequential().batchSize(1);
  }

  private static LoaderOptions plain() {
    return LoaderOptions.defaults().pinnedMemory(false);
  }

  @Test
  void bindsARankToTheDeviceOfItsTask() {
    assertThat(numbers().run(rank -> List.of(rank.device().orElseThrow(), rank.device(3))))
        .containsExactly(List.of(3, 3), List.of(3, 3));
    assertThatThrownBy(() -> numbers().run(rank -> rank.device(1)))
        .hasMessageContaining("device 1 is configured, but spark.task.resource.gpu gave [3]");
  }

  @Test
  void explanationNamesTheDevice() {
    Explanation explanation = numbers().explain();
    assertThat(explanation.ranks()).extracting(Explanation.Rank::device).containsOnly("device 3");
    assertThat(explanation.toString()).contains("rank 1 computes on device 3; batches ");
  }

  @Test
  void loaderAcceptsOnlyTheDeviceOfItsTask() {
    assertThat(
            numbers()
                .run(
                    rank -> {
                      rank.loader(sampler(), plain().device(3)).close();
                      rank.loader(sampler(), plain()).close();
                      return rank.rank();
                    }))
        .containsExactly(0, 1);
    assertThatThrownBy(
            () -> numbers().run(rank -> rank.loader(sampler(), plain().device(1)).state().epoch()))
        .hasMessageContaining("device 1 is configured, but spark.task.resource.gpu gave [3]");
  }

  @Test
  void warnsARankOnceOfADifferentLocalRank() {
    for (boolean loads : new boolean[] {true, false}) {
      assertThat(
              numbers()
                  .run(
                      rank -> {
                        DeviceBinding binding = rank.binding(OptionalInt.empty());
                        if (loads) {
                          rank.loader(sampler()).close(); // warns
                        }
                        return List.of(
                            rank.newWarnings(binding).size(), rank.newWarnings(binding).size());
                      }))
          .containsOnly(loads ? List.of(0, 0) : List.of(1, 0));
    }
    String warning = "rank 0, rank 1: environment variable LOCAL_RANK is 7, but the device is 3";
    Explanation explanation = numbers().explain();
    assertThat(explanation.warnings()).contains(warning);
    assertThat(explanation.toString()).contains("warning: " + warning);
  }
}
