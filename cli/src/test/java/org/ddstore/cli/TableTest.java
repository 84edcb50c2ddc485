package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void aLongCellContinuesAtItsLastSpace() {
    String words = "word ".repeat(20).strip(); // 99 characters

    List<String> lines =
        Table.of(List.of("n", "text"), List.of(List.of(7, words))).lines().toList();

    assertThat(lines).hasSize(6);
    assertThat(lines.get(3)).isEqualTo("| 7 | " + "word ".repeat(18).strip() + " |");
    assertThat(lines.get(4)).isEqualTo("|   | word word" + " ".repeat(80) + " |");
    assertThat(lines).allMatch(line -> line.length() == lines.get(0).length());
  }

  @Test
  void aWordWithoutSpaceIsCutAtTheLimit() {
    assertThat(Table.of(List.of("text"), List.of(List.of("x".repeat(91)))).lines())
        .contains("| " + "x".repeat(90) + " |", "| x" + " ".repeat(89) + " |");
  }

  @Test
  void valuesAreNoMarkupAndMayHaveLines() {
    assertThat(Table.of(List.of("text"), List.of(List.of("@|bold x|@\nsecond"))))
        .isEqualTo(
            """
            +------------+
            | text       |
            +------------+
            | @|bold x|@ |
            | second     |
            +------------+""");
  }

  @Test
  void withoutRowsTheHeadersRemain() {
    assertThat(Table.of(List.of("a", "b"), List.of()).lines()).hasSize(4).contains("| a | b |");
  }
}
