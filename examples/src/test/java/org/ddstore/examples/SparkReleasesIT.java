// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The releases but the current one, which {@link CurrentSparkIT} runs with more executors. */
class SparkReleasesIT extends OnSparkReleases {
  private static final long FEW_ROWS = 10_000;

  /** Sets the rows of all releases, each with few and more executors: too long for every run. */
  private static final Long ROWS = Long.getLong("ddstore.rows");

  static Stream<Arguments> cases() {
    if (ROWS != null) {
      return SparkHome.supported().stream()
          .flatMap(
              spark ->
                  Stream.of(FEW_EXECUTORS, MORE_EXECUTORS)
                      .map(executors -> Arguments.of(spark, executors, ROWS)));
    }
    return SparkHome.supported().stream()
        .filter(spark -> !spark.equals(SparkHome.current()))
        .map(spark -> Arguments.of(spark, FEW_EXECUTORS, FEW_ROWS));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void runsTablesQuickStartAndDemoOnTheRelease(SparkHome spark, int executors, long rows)
      throws IOException, InterruptedException {
    runTablesQuickStartAndDemo(spark, executors, rows);
  }
}
