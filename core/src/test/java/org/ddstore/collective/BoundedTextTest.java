// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundedTextTest {
  @ParameterizedTest
  @CsvSource({
    "'', 10, ''",
    "0123456789, 10, 0123456789",
    "0123456789a, 10, 0123456...",
    "äääää, 10, äääää",
    "ääääää, 10, äää...", // 7 bytes are left, and the fourth would be cut in two
    "😀😀😀😀, 10, 😀..."
  })
  void cutsBetweenCharacters(String text, int maxBytes, String expected) {
    assertThat(new String(BoundedText.encode(text, maxBytes), StandardCharsets.UTF_8))
        .isEqualTo(expected);
  }

  @Test
  void digestsDependOnEveryCharacterAndItsPlace() {
    assertThat(BoundedText.digest("ab")).isNotEqualTo(BoundedText.digest("ba"));
    assertThat(BoundedText.digest("a")).isNotEqualTo(BoundedText.digest("a\0"));
    assertThat(BoundedText.digest("\u0101")).isNotEqualTo(BoundedText.digest("\u0001"));
    assertThat(BoundedText.digest("a".repeat(10_000) + "b"))
        .isNotEqualTo(BoundedText.digest("a".repeat(10_000) + "c"));
    assertThat(BoundedText.digest("")).isEqualTo(0xcbf29ce484222325L);
  }
}
