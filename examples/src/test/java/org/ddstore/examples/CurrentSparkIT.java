// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The release that everything is compiled against, with more executors and rows than others. */
class CurrentSparkIT extends OnSparkReleases {
  private static final long MORE_ROWS = 20_000;

  @Test
  void runsTablesQuickStartAndDemoOnTheRelease() throws IOException, InterruptedException {
    runTablesQuickStartAndDemo(SparkHome.current(), MORE_EXECUTORS, MORE_ROWS);
  }
}
