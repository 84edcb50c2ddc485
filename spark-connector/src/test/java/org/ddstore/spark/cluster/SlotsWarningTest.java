// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.ddstore.spark.wire.LogTap;
import org.junit.jupiter.api.Test;

/** When the log says that ranks take all slots, of executors made up here: two cores each. */
class SlotsWarningTest {
  private static final String TWO_EXECUTORS = "local-cluster[2,2,1024]";

  private static ClusterFacts cluster(String master, int executors) {
    return new ClusterFacts(
        master,
        false,
        "here",
        IntStream.range(0, executors)
            .mapToObj(i -> new ClusterFacts.Executor(Integer.toString(i), "here", 2))
            .toList(),
        1,
        2 * executors,
        false,
        1L << 30,
        null);
  }

  private static List<String> warnings(int ranks, SparkConf conf, ClusterFacts... looks) {
    try (LogTap log = LogTap.open()) {
      SlotsWarning warning = SlotsWarning.ofJob();
      for (ClusterFacts cluster : looks) {
        warning.logIfNeeded(ranks, cluster, conf);
      }
      return log.of(SlotsWarning.class);
    }
  }

  @Test
  void countsTheSlotsOfExpectedExecutors() {
    SparkConf conf = new SparkConf(false);
    assertThat(warnings(2, conf, cluster(TWO_EXECUTORS, 1), cluster(TWO_EXECUTORS, 2))).isEmpty();
    conf.set("spark.executor.instances", "2").set("spark.executor.cores", "2");
    assertThat(warnings(2, conf, cluster("yarn", 1), cluster("yarn", 2))).isEmpty();
  }

  @Test
  void warnsWhenAllExecutorsAreRegistered() {
    assertThat(
            warnings(
                4,
                new SparkConf(false),
                cluster(TWO_EXECUTORS, 1),
                cluster(TWO_EXECUTORS, 2),
                cluster(TWO_EXECUTORS, 2)))
        .singleElement()
        .asString()
        .startsWith("slots of a job: 4 ranks take all 4 slots");
  }

  @Test
  void warnsIfTheNumberOfExecutorsIsUnknown() {
    SparkConf conf = new SparkConf(false);
    assertThat(warnings(2, conf, cluster("spark://a:7077", 1))).hasSize(1);
    conf.set("spark.cores.max", "1000");
    assertThat(warnings(2, conf, cluster("spark://a:7077", 1))).hasSize(1);
  }
}
