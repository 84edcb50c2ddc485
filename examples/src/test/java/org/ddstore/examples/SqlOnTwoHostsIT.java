// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store as a table on a cluster of two hosts: every type, read where it is and over the network,
 * equals its source.
 */
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class SqlOnTwoHostsIT extends OnTwoHosts {
  private static final String PROGRAM = "org.ddstore.spark.source.SpreadScanProgram";
  private static final int ROWS = 10_000; // two batches of a scan on each host

  /** Folder of the program, which belongs to the connector's tests. */
  private static final Path TESTS =
      Path.of(System.getProperty("ddstore.root"), "spark-connector/target/test-classes");

  @TempDir private Path work;

  @Test
  void readsEveryRowFromBothHosts() throws Exception {
    Map<String, String> settings =
        Map.of(
            "spark.executor.memory", "1g",
            "spark.sql.adaptive.enabled", "false",
            "spark.sql.shuffle.partitions", "4");
    List<String> application =
        List.of(
            "--jars",
            SparkHome.RUNTIME_JAR.toString(),
            "--class",
            PROGRAM,
            "spark-internal",
            Integer.toString(ROWS),
            "2");

    try (ClusterOnTwoHosts cluster = ClusterOnTwoHosts.start(work, 1)) {
      Program program = cluster.submit(work, List.of(TESTS), settings, application);

      assertThat(program.lastLine())
          .matches("equal, %d and [12] rows over the network".formatted(ROWS / 2));
    }
  }
}
