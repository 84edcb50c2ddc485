// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import org.ddstore.notebook.classes.CellClasses;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Completion and signatures; {@code |} in the code is the cursor. */
class CodeAssistTest {
  @TempDir private static Path folder;
  private static Snippets snippets;
  private static CodeAssist assist;

  @BeforeAll
  static void open() throws CellException {
    snippets = new Snippets(new CellClasses(CodeAssistTest.class.getClassLoader(), folder));
    snippets.eval(new CellText(1, "import java.util.*; String greeting = \"a\";"));
    assist = new CodeAssist(snippets.analysis());
  }

  @AfterAll
  static void close() {
    snippets.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "gree| ~ greeting ~ 0",
        "greeting.isBl| ~ isBlank() ~ 9",
        "List.of(1).su|bList(0, 1) ~ subList( ~ 11"
      })
  void completesNamesOfEarlierCells(String code, String text, int start) {
    int cursor = code.indexOf('|');
    CodeAssist.Completions found = assist.complete(code.replace("|", ""), cursor);
    assertThat(found.texts()).contains(text);
    assertThat(found.start()).isEqualTo(start);
  }

  @Test
  void completesNamesOfTheSameCell() {
    String code =
        "import java.io.File;\nint counted() { return 1; }\nvar names = List.of(\"a\");\n";
    assertThat(assist.complete(code + "coun", code.length() + 4).texts()).contains("counted");
    CodeAssist.Completions member = assist.complete(code + "names.su", code.length() + 8);
    assertThat(member.texts()).containsExactly("subList(");
    assertThat(member.start()).isEqualTo(code.length() + 6);
    assertThat(assist.complete(code + "greeting.na", code.length() + 11).texts()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "greeting.rep|eat(3) ~ String String.repeat(int count)",
        "greeting| ~ greeting:",
        "Math.max(1,| 2) ~ int Math.max(int a, int b)",
        "List<String> all = null; all.ad|d ~ .add(E"
      })
  void inspectsWhatTheCursorIsOn(String code, String signature) {
    int cursor = code.indexOf('|');
    assertThat(assist.inspect(code.replace("|", ""), cursor).orElse("nothing")).contains(signature);
  }

  @Test
  void inspectsNothingUnknown() {
    assertThat(assist.inspect("unknown.thing", 13)).isEmpty();
  }

  @Test
  void tellsWhetherCodeIsComplete() {
    assertThat(assist.isComplete("int x = 1")).isEqualTo(Optional.of(true));
    assertThat(assist.isComplete("int x = 1; class A { }\nx")).isEqualTo(Optional.of(true));
    assertThat(assist.isComplete("int x = )")).isEqualTo(Optional.of(false));
    assertThat(assist.isComplete("int x = 1; if (true) {")).isEmpty();
    assertThat(CodeAssist.indent("class A {\n  int f() {")).isEqualTo("    ");
    assertThat(CodeAssist.indent("  f(1,")).isEqualTo("  ");
  }
}
