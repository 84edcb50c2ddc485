// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The release that everything is compiled against, with more executors and rows than others. */
@Tag("always")
class SparkCurrentIT extends OnSparkRelease {
  private static final long MORE_ROWS = 20_000;

  SparkCurrentIT() {
    super(SparkHome.current(), MORE_EXECUTORS, MORE_ROWS);
  }

  @Test
  void everyReleaseHasAClass() {
    assertThat(
            Stream.of(new Spark35IT(), new Spark40IT(), new Spark41IT(), this, new Spark43IT())
                .map(OnSparkRelease::spark))
        .containsExactlyElementsOf(SparkHome.supported());
  }
}
