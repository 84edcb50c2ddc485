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

/** Ranks on workers that say they have two devices each; there need not be any. */
@Tag("system")
@Timeout(300)
@Tag("slow")
class DeviceOnExecutorsTest {
  @TempDir private static Path directory;
  private static TestCluster cluster;

  @BeforeAll
  static void start() throws IOException {
    Path discovery = directory.resolve("discover");
    Files.writeString(
        discovery, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"3\", \"5\"]}'\n");
    Files.setPosixFilePermissions(discovery, PosixFilePermissions.fromString("rwx------"));
    cluster =
        TestCluster.start(
            2,
            1,
            1024,
            Map.of(
                "spark.worker.resource.gpu.amount", "2",
                "spark.worker.resource.gpu.discoveryScript", discovery.toString(),
                "spark.executor.resource.gpu.amount", "2",
                "spark.task.resource.gpu.amount", "2",
                "spark.executorEnv.LOCAL_RANK", "5"));
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
  void bindsARankToTheDeviceOfItsTaskAndLauncher() {
    assertThat(numbers().run(rank -> List.of(rank.device().orElseThrow(), rank.device(5))))
        .as("Spark gives 3 and 5, LOCAL_RANK is 5")
        .containsExactly(List.of(5, 5), List.of(5, 5));
    assertThatThrownBy(() -> numbers().run(rank -> rank.device(1)))
        .hasMessageContaining("device 1 is configured, but spark.task.resource.gpu gave [3, 5]");
    assertThatThrownBy(() -> numbers().run(rank -> rank.device(3)))
        .hasMessageContaining("device 3 is configured, but environment variable LOCAL_RANK is 5");
  }

  @Test
  void explanationNamesTheDevice() {
    Explanation explanation = numbers().explain();
    assertThat(explanation.ranks()).extracting(Explanation.Rank::device).containsOnly("device 5");
    assertThat(explanation.toString()).contains("rank 1 computes on device 5; batches ");
  }

  @Test
  void loadersAcceptOnlyTheDeviceOfTheirTask() {
    assertThat(
            numbers()
                .run(
                    rank -> {
                      rank.loader(sampler(), plain().device(5)).close();
                      rank.loader(sampler(), plain()).close();
                      return rank.rank();
                    }))
        .containsExactly(0, 1);
    String problem = "device 1 is configured, but spark.task.resource.gpu gave [3, 5]";
    assertThatThrownBy(
            () -> numbers().run(rank -> rank.loader(sampler(), plain().device(1)).state().epoch()))
        .hasMessageContaining(problem);
    assertThatThrownBy(
            () -> numbers().run(rank -> rank.deviceLoader(sampler(), plain().device(1)).device()))
        .hasMessageContaining(problem);
  }

  /** The driver of this machine, if there is one, has no device 5. */
  @Test
  void loadersOnADeviceNeedADriver() {
    assertThatThrownBy(() -> numbers().run(rank -> rank.deviceLoader(sampler(), plain()).device()))
        .hasMessageMatching("(?s).*(batches cannot be copied to a device: no device|5).*");
  }

  @Test
  void returnsAWarningOnce() {
    assertThat(
            numbers()
                .run(
                    rank -> {
                      DeviceBinding doubtful =
                          new DeviceBinding(OptionalInt.empty(), List.of("cannot tell"), "");
                      return List.of(
                          rank.newWarnings(doubtful).size(), rank.newWarnings(doubtful).size());
                    }))
        .containsOnly(List.of(1, 0));
  }
}
