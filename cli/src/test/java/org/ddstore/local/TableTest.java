// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void alignsNumbersRightAndTextLeft() {
    assertThat(
            Table.of(List.of("rows", "name"), List.of(List.of(7, "a"), List.of(12_345, "second"))))
        .isEqualTo(
            """
             rows  name
            -----  ------
                7  a
            12345  second""");
  }

  @Test
  void continuesALongCellAtItsLastSpace() {
    String words = "word ".repeat(20).strip(); // 99 characters

    assertThat(Table.of(List.of("n", "text"), List.of(List.of(7, words))).lines())
        .hasSize(4)
        .contains("7  " + "word ".repeat(18).strip(), "   word word");
  }

  @Test
  void cutsAWordWithoutSpaceAtTheLimit() {
    assertThat(Table.of(List.of("text"), List.of(List.of("x".repeat(91)))).lines())
        .contains("x".repeat(90), "x");
  }

  @Test
  void printsMarkupAsItIsAndKeepsLineBreaks() {
    assertThat(Table.of(List.of("text", "n"), List.of(Arrays.asList("@|bold x|@\nsecond", null))))
        .isEqualTo(
            """
            text        n
            ----------  -
            @|bold x|@  -
            second""");
  }

  @Test
  void printsTheHeadersOfATableWithoutRows() {
    assertThat(Table.of(List.of("a", "b"), List.of())).isEqualTo("a  b\n-  -");
  }
}
