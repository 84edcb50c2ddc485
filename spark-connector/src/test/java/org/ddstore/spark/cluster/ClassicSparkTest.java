// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.ddstore.spark.connect.FakeDataset;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Accepted and refused releases and sessions, imitated; tests of the examples use real ones. */
class ClassicSparkTest {
  @ParameterizedTest
  @CsvSource({
    "3.5.0, 2.13.8",
    "3.5.6, 2.13.8",
    "3.10.1, 2.13.8",
    "4.0.0-SNAPSHOT, 2.13.16",
    "4.2.0, 2.13.18",
    "10.0.0, 2.13.18"
  })
  void acceptsSupportedReleases(String spark, String scala) {
    assertThat(ClassicSpark.releaseProblem(spark, scala)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"3.5.6, 2.12.18", "3.4.4, 2.13.8", "2.4.8, 2.11.12", "4.2.0, 3.7.1", "4.2.0, 2.130"})
  void rejectsUnsupportedReleases(String spark, String scala) {
    assertThat(ClassicSpark.releaseProblem(spark, scala))
        .get()
        .extracting(Problem::missing)
        .isEqualTo("this is Spark %s on Scala %s".formatted(spark, scala));
  }

  @Test
  void rejectsSparkConnectByItsClassNames() {
    assertThatExceptionOfType(PreflightException.class)
        .isThrownBy(() -> ClassicSpark.require(new FakeDataset()))
        .withMessageContaining(
            "org.ddstore.spark.connect.FakeDataset belongs to Spark Connect, whose client has no"
                + " SparkContext")
        .withMessageContaining("spark.api.mode=classic");
    assertThatCode(() -> ClassicSpark.require("classic")).doesNotThrowAnyException();
  }

  @Test
  void acceptsTheSparkOfTheTests() {
    assertThatCode(ClassicSpark::require).doesNotThrowAnyException();
  }
}
