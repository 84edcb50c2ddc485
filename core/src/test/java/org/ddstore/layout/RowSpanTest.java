// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowSpanTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "980 | 30 | [980, 1010)",
        "-1 | 3 | [-1, 2)",
        "9223372036854775807 | 1 | [9223372036854775807, 9223372036854775808)",
        "-9223372036854775808 | -1 | [-9223372036854775808, -9223372036854775809)",
      })
  void formatsTheExactEnd(long first, long count, String text) {
    assertThat(RowSpan.format(first, count)).isEqualTo(text);
  }
}
