// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rows of a sample, and the options that describe one. */
class StoreSampleTest {
  @ParameterizedTest
  @CsvSource({"0, 0", "0, 10", "1, 10", "7, 10", "10, 10", "1000, 1000000", "200000, 1000000"})
  void aSampleHasDistinctRowsOfTheStore(int count, long rows) {
    RowRanges sample = new StoreSample(count, 5).of(rows, "train");
    assertThat(sample.rows()).isEqualTo(count);
    assertThat(sample.and(RowRanges.between(0, rows))).isEqualTo(sample);
    assertThat(sample).isEqualTo(new StoreSample(count, 5).of(rows, "train"));
  }

  @Test
  void aSmallerSampleIsPartOfALargerOne() {
    RowRanges large = new StoreSample(300, 9).of(1_000, "train");
    RowRanges small = new StoreSample(20, 9).of(1_000, "train");
    assertThat(small.and(large)).isEqualTo(small);
    assertThat(new StoreSample(20, 10).of(1_000, "train")).isNotEqualTo(small);
  }

  /** Pearson's test with 19 degrees of freedom; a fair source exceeds 51 once in 10,000 cases. */
  @Test
  void allRowsAreEquallyLikely() {
    int seeds = 20_000;
    long[] counts = new long[20];
    for (int seed = 0; seed < seeds; seed++) {
      RowRanges sample = new StoreSample(5, seed).of(counts.length, "train");
      for (int run = 0; run < sample.size(); run++) {
        for (long row = sample.from(run); row < sample.to(run); row++) {
          counts[(int) row]++;
        }
      }
    }
    double expected = 5.0 * seeds / counts.length;
    double sum = 0;
    for (long count : counts) {
      sum += (count - expected) * (count - expected) / expected;
    }
    assertThat(sum).as("chi-square of %s", counts).isLessThan(51);
  }

  @Test
  void aNumberOutsideItsRangeIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StoreSample(11, 0).of(10, "train"))
        .withMessage("sample of 11 rows of store \"train\", outside [0, 10]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StoreSample(-1, 0).of(10, "train"))
        .withMessage("sample of -1 rows of store \"train\", outside [0, 10]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StoreSample(1L << 40, 0).of(1L << 41, "train"))
        .withMessageEndingWith("outside [0, 10,000,000]");
  }

  @Test
  void optionsDescribeASample() {
    assertThat(StoreSample.of(options(Map.of()))).isNull();
    assertThat(StoreSample.of(options(Map.of("sample", " 5 ")))).isEqualTo(new StoreSample(5, 0));
    assertThat(StoreSample.of(options(Map.of("Sample", "5", "sampleseed", "-7"))))
        .isEqualTo(new StoreSample(5, -7));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreSample.of(options(Map.of("sample", "0.5"))))
        .withMessage("option \"sample\" is \"0.5\", not an integer");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreSample.of(options(Map.of("sampleSeed", "1"))))
        .withMessage("option \"sampleSeed\" is 1 without option \"sample\", the number of rows");
  }

  private static CaseInsensitiveStringMap options(Map<String, String> options) {
    return new CaseInsensitiveStringMap(options);
  }
}
