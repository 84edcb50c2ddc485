// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors of one worker find each other by their real command lines. */
@Tag("system")
@Timeout(180)
@Tag("slow")
class ControlGroupOnExecutorsTest {
  @Test
  void executorsOfOneWorkerCountEachOther() {
    TestCluster cluster = TestCluster.shared(2, 2, Map.of());

    assertThat(
            cluster.inEverySlot(
                none -> ControlGroup.executors(Path.of("/proc"), SparkEnv.get().conf().getAppId())))
        .containsOnly(2);
    cluster.assertNothingHeld();
    cluster.assertNothingLeft();
  }
}
