// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
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
        .contains("7  " + "word ".repeat(15).strip(), "   " + "word ".repeat(5).strip());
  }

  @Test
  void cutsAWordWithoutSpaceAtTheLimit() {
    assertThat(Table.of(List.of("text"), List.of(List.of("x".repeat(81)))).lines())
        .contains("x".repeat(80), "x");
  }

  @Test
  void turnsATableThatIsTooWide() {
    List<String> headers = IntStream.range(0, 20).mapToObj(i -> "column " + i).toList();
    List<List<Object>> rows =
        IntStream.range(0, 30).mapToObj(i -> Collections.<Object>nCopies(20, 1000 * i)).toList();

    List<String> lines = Table.of(headers, rows).lines().toList();

    assertThat(lines).allMatch(line -> line.length() <= 80).contains("");
    assertThat(lines.get(0)).matches("column 0 +0 +1000 +2000 .*");
    assertThat(lines.get(2)).matches("column 1 +0 +1000 +2000 .*");
    assertThat(lines).anyMatch(line -> line.matches("column 19 .* 29000"));
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
