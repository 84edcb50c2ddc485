// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.Network$;
import org.apache.spark.internal.config.package$;
import org.ddstore.contract.Needed;
import org.ddstore.spark.config.Setting;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * What can be checked of the blocks of code of all pages without running them; {@link
 * GuideBlocksIT} runs them.
 */
class GuideBlocksTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** Blocks that run or carry a reason why not. */
  private static final Set<String> PROGRAMS =
      Set.of("java", "sql", "shell", "bash", "python", "dockerfile");

  /** Blocks that are checked here, and those that only show something. */
  private static final Set<String> OTHERS = Set.of("properties", "yaml", "text", "mermaid");

  /** Settings that no class on the class path of this test declares, by the start of their key. */
  private static final List<String> UNDECLARED =
      List.of(
          "spark.connect.", // its module
          "spark.executorEnv.",
          "spark.kubernetes.", // its module
          "spark.metrics.conf.",
          "spark.port.maxRetries",
          "spark.sql.catalog.ddstore",
          "spark.yarn."); // its module

  private static final Pattern CONF = Pattern.compile("--conf[= ][\"']?([\\w.-]+)=");
  private static final Pattern LINE_OF_SETTING = Pattern.compile("(?m)^(spark\\.[\\w.-]+)[ =]");

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
        .as("-Dddstore.guide.write=true -Dddstore.it=GuideBlocksIT writes the output")
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
  void everySettingIsKnown() throws IOException {
    assertThat(package$.MODULE$).as("settings of Spark").isNotNull();
    assertThat(Network$.MODULE$).as("settings of Spark's network").isNotNull();
    List<String> problems = new ArrayList<>();
    int count = 0;
    for (CodeBlock block : blocks) {
      for (String key : settings(block)) {
        count++;
        if (!isKnown(key)) {
          problems.add("%s: unknown setting \"%s\"".formatted(block, key));
        }
      }
    }
    assertThat(problems).isEmpty();
    assertThat(count).as("settings in blocks").isGreaterThan(50);
  }

  private static Set<String> settings(CodeBlock block) throws IOException {
    if (block.language().equals("properties")) {
      Properties settings = new Properties();
      settings.load(new StringReader(block.code()));
      assertThat(settings).as("settings of " + block).isNotEmpty();
      return settings.stringPropertyNames();
    }
    return Pattern.compile(CONF + "|" + LINE_OF_SETTING)
        .matcher(block.code())
        .results()
        .map(match -> match.group(1) == null ? match.group(2) : match.group(1))
        .collect(Collectors.toSet());
  }

  private static boolean isKnown(String key) {
    return Arrays.stream(Setting.values()).anyMatch(setting -> setting.key().equals(key))
        || ConfigEntry.findEntry(key) != null
        || UNDECLARED.stream().anyMatch(key::startsWith);
  }
}
