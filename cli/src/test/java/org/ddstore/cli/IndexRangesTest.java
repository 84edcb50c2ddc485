// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexRangesTest {
  @Test
  void keepsOrderAndRepeats() {
    assertThat(IndexRanges.parse("7,0-2, 7,-1").indices()).containsExactly(7L, 0L, 1L, 2L, 7L, -1L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1,", "x", "3-1", "1-2-3", "99999999999999999999", "0-100000"})
  void rejectsMalformedRanges(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> IndexRanges.parse(text));
  }
}
