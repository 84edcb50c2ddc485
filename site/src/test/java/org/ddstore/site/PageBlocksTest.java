// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.groups.Tuple.tuple;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks of code, their comments and their outputs. */
class PageBlocksTest {
  private static final String PAGE =
      """
      # Title

      <!-- set-up (java)
      int x = 1;
      -->
      ```java
      x + 1
      ```

      The value:

      <!-- output: differs -->
      ```text
      2
      ```

      1. In a list:
         <!-- not run: needs
         a cluster -->
         ```shell
         srun true
         ```

         ```text
         done
           twice
         ```

      ```sql
      SELECT 1
      ```

      <!-- output: paste -->

      ## Other section

      ```text
      no output
      ```
      """;

  private static List<CodeBlock> blocks(String text) {
    return PageBlocks.of(Page.parse("a.md", text));
  }

  @Test
  void blocksHaveTheirReasonsAndOutputs() {
    List<CodeBlock> blocks = blocks(PAGE);

    assertThat(blocks)
        .extracting(CodeBlock::language, CodeBlock::toString, CodeBlock::runs)
        .containsExactly(
            tuple("java", "a.md:4", true),
            tuple("java", "a.md:7", true),
            tuple("shell", "a.md:21", false),
            tuple("sql", "a.md:30", true),
            tuple("text", "a.md:38", false));
    assertThat(blocks.get(0).code()).isEqualTo("int x = 1;");
    assertThat(blocks.get(1).output().orElseThrow().differs()).isTrue();
    assertThat(blocks.get(1).output().orElseThrow().matches("17\n")).isTrue();
    assertThat(blocks.get(2).reason()).contains("needs\na cluster");
    assertThat(blocks.get(2).output().orElseThrow().matches("done\n  twice\n")).isTrue();
    assertThat(blocks.get(3).output().orElseThrow().isMissing()).isTrue();
    assertThat(blocks.get(4).output()).isEqualTo(Optional.empty());
  }

  @Test
  void outputsReplaceTheLinesOfThePage() {
    List<CodeBlock> blocks = blocks(PAGE);
    List<String> lines = new ArrayList<>(PAGE.lines().toList());

    blocks.get(3).output().orElseThrow().write(lines, "\n+-+\n|1|\n\n");
    blocks.get(2).output().orElseThrow().write(lines, "one\n\n two  \n");

    List<CodeBlock> written = blocks(String.join("\n", lines));
    assertThat(written.get(2).output().orElseThrow().text()).isEqualTo("one\n\n two\n");
    assertThat(written.get(3).output().orElseThrow().text()).isEqualTo("+-+\n|1|\n");
    assertThat(written.get(3).output().orElseThrow().isMissing()).isFalse();
    assertThat(lines).hasSize((int) PAGE.lines().count() + 4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<!-- not run: why -->\n\n# Title",
        "<!-- not run: why -->",
        "```java\n```\n\n<!-- output: differs -->\n\n```java\n```",
        "```java\n```\n\n<!-- output: other -->",
        "# Title\n\n<!-- output: paste -->",
        "```java\n```\n\n# Title\n\n<!-- output: differs -->\n```text\n```"
      })
  void refusesCommentsWithoutTheirBlock(String page) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> blocks(page))
        .withMessageMatching("a\\.md:\\d+: .+");
  }

  @ParameterizedTest
  @CsvSource({
    "a 1\\nb, a 1\\nb, false, true",
    "a 1, a 2, false, false",
    "a 1, a 2.5, true, true",
    "a 1, b 1, true, false",
    "a 1b9e5813b2b7, a 8b, true, false",
    "a 1b9e5813b2b7, a 7, true, true",
    "a b  \\n\\n,  a b, false, true",
    "---  --\\n1    x, ----  --\\n1000  x, true, true",
    "a\\n...\\nc, a\\nc, false, true",
    "a\\n...\\nc, a\\nb\\nb\\nc, false, true",
    "a\\n...\\nc, a\\nb, false, false",
    "a.c, abc, false, false",
    "|id |, |id|, true, true",
    "[0.5; -1], [-2; 3], true, true",
    "shard-1, shard-20, true, true",
    "int64, int32, true, false"
  })
  void comparesOutputs(String expected, String actual, boolean differs, boolean isEqual) {
    BlockOutput output = new BlockOutput(expected.replace("\\n", "\n"), differs, false, 0, 0, 0);

    assertThat(output.matches(actual.replace("\\n", "\n"))).isEqualTo(isEqual);
    assertThat(output.isReplaceable()).isEqualTo(!expected.contains("..."));
  }
}
