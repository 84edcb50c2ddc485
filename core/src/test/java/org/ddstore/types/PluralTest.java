// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PluralTest {
  @ParameterizedTest
  @CsvSource({
    "0, '0 ranks', '0 ranks need'",
    "1, '1 rank', '1 rank needs'",
    "2, '2 ranks', '2 ranks need'",
    "4096, '4,096 ranks', '4,096 ranks need'",
  })
  void wordsAgreeWithTheNumber(long count, String noun, String verb) {
    assertThat(Plural.of(count, "rank")).isEqualTo(noun);
    assertThat(Plural.of(count, "rank needs", "ranks need")).isEqualTo(verb);
  }
}
