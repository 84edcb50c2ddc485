// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.ddstore.contract.Needed;
import org.ddstore.pages.Page.Block;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

/** How outputs are compared, and checks of the blocks of pages that need no run. */
class PageBlocksTest {
  /** Blocks that run or carry a reason why not. */
  private static final Set<String> PROGRAMS =
      Set.of("java", "sql", "shell", "bash", "python", "dockerfile");

  /** Blocks that are parsed here, and those that only show something. */
  private static final Set<String> OTHERS =
      Set.of("c", "json", "properties", "yaml", "text", "mermaid");

  private static List<Block> blocks;

  @BeforeAll
  static void readPages() throws IOException {
    blocks = Page.all().stream().flatMap(page -> page.blocks().stream()).toList();
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
    PageOutput output = new PageOutput(expected.replace("\\n", "\n"), differs, 0, 0, 0);

    assertThat(output.matches(actual.replace("\\n", "\n"))).isEqualTo(isEqual);
  }

  @Test
  void everyProgramRunsOrHasAReason() {
    assertThat(blocks)
        .isNotEmpty()
        .allSatisfy(
            block -> {
              boolean isProgram = PROGRAMS.contains(block.language());
              assertThat(isProgram || OTHERS.contains(block.language()))
                  .as("language \"%s\" of %s", block.language(), block)
                  .isTrue();
              assertThat(!isProgram || block.runs() || block.reason().isPresent())
                  .as("%s runs or has a comment \"not run: REASON\"", block)
                  .isTrue();
            });
  }

  /** Runs a command that checks something, and returns its output if it fails. */
  private static String failure(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return process.waitFor() == 0 ? "" : "failed: " + output;
  }

  @Test
  void blocksHaveLegalSyntax(@TempDir Path folder) throws Exception {
    String python = failure("bash", "-c", "command -v python3");
    Needed.check("Python", python.isEmpty(), () -> "no python3 on the path");
    String parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    Path file = folder.resolve("code");
    Path headers = Page.ROOT.resolve("native/src/reader/c");
    String compiler = failure("bash", "-c", "command -v gcc");
    Needed.check("gcc", compiler.isEmpty(), () -> "no gcc on the path");
    for (Block block : blocks) {
      Files.writeString(file, block.code());
      switch (block.language()) {
        case "shell", "bash" ->
            assertThat(failure("bash", "-n", file.toString())).as("%s", block).isEmpty();
        case "c" -> {
          Files.writeString(
              file,
              "#include <stdio.h>\n#include \"ddstore_reader.h\"\nvoid page(void) {\n%s\n}\n"
                  .formatted(block.code()));
          assertThat(
                  failure(
                      "gcc",
                      "-fsyntax-only",
                      "-Wall",
                      "-Werror",
                      "-I" + headers,
                      "-xc",
                      file.toString()))
              .as("%s", block)
              .isEmpty();
        }
        case "python" ->
            assertThat(failure("python3", "-c", parse, file.toString())).as("%s", block).isEmpty();
        case "yaml" -> assertThat(new Yaml().loadAll(block.code())).as("%s", block).isNotEmpty();
        case "properties" -> assertThat(PageSetting.of(block)).as("%s", block).isNotEmpty();
        default -> {} // runs, or shows something
      }
    }
  }
}
