// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Checks of the blocks of code of all pages without running them; {@link PageBlocksContract} runs
 * them.
 */
class GuideBlocksTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** Blocks that run or carry a reason why not. */
  private static final Set<String> PROGRAMS =
      Set.of("java", "sql", "shell", "bash", "python", "dockerfile");

  /** Blocks that are checked here, and those that only show something. */
  private static final Set<String> OTHERS = Set.of("properties", "yaml", "text", "mermaid");

  private static List<CodeBlock> blocks;

  @BeforeAll
  static void readPages() throws IOException {
    blocks = Pages.read(ROOT).all().stream().flatMap(page -> PageBlocks.of(page).stream()).toList();
  }

  private static List<CodeBlock> blocks(Predicate<CodeBlock> which) {
    List<CodeBlock> chosen = blocks.stream().filter(which).toList();
    assertThat(chosen).as("blocks").isNotEmpty();
    return chosen;
  }

  @Test
  void everyBlockHasAKnownLanguage() {
    assertThat(blocks)
        .hasSizeGreaterThan(200)
        .allSatisfy(
            block ->
                assertThat(PROGRAMS.contains(block.language()) || OTHERS.contains(block.language()))
                    .as("language \"%s\" of %s", block.language(), block)
                    .isTrue());
  }

  @Test
  void everyProgramRunsOrHasAReason() {
    assertThat(blocks(block -> PROGRAMS.contains(block.language())))
        .allSatisfy(
            block -> {
              assertThat(block.runs() || block.reason().isPresent())
                  .as("%s runs or has a comment \"not run: REASON\"", block)
                  .isTrue();
              block.reason().ifPresent(reason -> assertThat(reason).as("reason").isNotBlank());
            });
  }

  @Test
  void noOutputIsMissing() {
    assertThat(blocks(block -> block.output().isPresent()))
        .as("-Dddstore.guide.write=true -Dddstore.it=*BlocksIT writes the output")
        .noneMatch(block -> block.output().orElseThrow().isMissing());
  }

  @Test
  void shellAndPythonHaveLegalSyntax(@TempDir Path folder) throws Exception {
    Needed.check("Python", isInstalled("python3"), () -> "no python3 on the path");
    List<String> problems = new ArrayList<>();
    Path file = folder.resolve("code");
    for (CodeBlock block : blocks(each -> each.isShell() || each.language().equals("python"))) {
      Files.writeString(file, block.code());
      List<String> parser =
          block.isShell()
              ? List.of("bash", "-n")
              : List.of("python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())");
      Process process =
          new ProcessBuilder(parser).redirectInput(file.toFile()).redirectErrorStream(true).start();
      String message = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        problems.add("%s: %s".formatted(block, message));
      }
    }
    assertThat(problems).isEmpty();
  }

  private static boolean isInstalled(String program) {
    return Arrays.stream(System.getenv("PATH").split(":", -1))
        .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
  }

  @Test
  void yamlIsLegal() {
    List<String> problems = new ArrayList<>();
    for (CodeBlock block : blocks(each -> each.language().equals("yaml"))) {
      try {
        new Yaml().loadAll(block.code()).forEach(document -> assertThat(document).isNotNull());
      } catch (YAMLException e) {
        problems.add("%s: %s".formatted(block, e.getMessage()));
      }
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void propertiesAreLegal() throws IOException {
    for (CodeBlock block : blocks(each -> each.language().equals("properties"))) {
      assertThat(PageSetting.of(block)).as("settings of " + block).isNotEmpty();
    }
  }
}
