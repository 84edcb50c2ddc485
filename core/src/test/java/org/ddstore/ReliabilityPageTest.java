// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that docs/reliability.md names exist, and those marked slow are tagged slow. */
class ReliabilityPageTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** A test class, with a method or the beginning of some, and the mark of slow tests. */
  private static final Pattern NAMED =
      Pattern.compile("`(\\w+(?:Test|Contract|IT))(?:#(\\w+)(?:\\.\\.)?)?`( \\(slow\\))?");

  private static final Pattern SLOW_CLASS = Pattern.compile("(?m)^@Tag\\(\"slow\"\\)$");
  private static final Pattern SUPERCLASS =
      Pattern.compile("(?m)^[\\w ]*class \\w+ extends (\\w+)");

  /** A method with its annotations, whose values can take several lines. */
  private static final Pattern METHOD =
      Pattern.compile("(?m)((?:^  @.*\n(?:^    .*\n|^  }\\).*\n)*)+)^  [\\w<> ]*\\bvoid (\\w+)\\(");

  private static final String SLOW_METHOD = "  @Tag(\"slow\")\n";

  @Test
  void namesOnlyExistingTests() throws IOException {
    Map<String, String> sources = sources();
    List<MatchResult> named = named(page());
    assertThat(named).isNotEmpty();
    assertThat(named)
        .filteredOn(test -> !exists(test, sources.getOrDefault(test.group(1), "")))
        .extracting(MatchResult::group)
        .as("tests that do not exist")
        .isEmpty();
  }

  @Test
  void marksSlowTests() throws IOException {
    Map<String, String> sources = sources();
    assertThat(named(page()))
        .filteredOn(test -> isSlow(test, sources) != (test.group(3) != null))
        .extracting(MatchResult::group)
        .as("tests whose tag \"slow\" and mark \"(slow)\" differ")
        .isEmpty();
  }

  @Test
  void findsTagsOfClassesSuperclassesAndMethods() {
    Map<String, String> sources =
        Map.of(
            "ATest", "@Tag(\"slow\")\nclass ATest {\n  @Test\n  void one() {}\n}\n",
            "BTest", "class BTest extends ATest {\n}\n",
            "CTest",
                """
                class CTest {
                  @Test
                  void one() {}

                  @ParameterizedTest
                  @CsvSource({
                    "1, 2",
                  })
                  @Tag("slow")
                  void two(int a, int b) {}
                }
                """);
    assertThat(named("`ATest`, `BTest`, `CTest#two`, `CTest#t..`"))
        .allMatch(test -> isSlow(test, sources));
    assertThat(named("`CTest`, `CTest#one`")).noneMatch(test -> isSlow(test, sources));
  }

  private static String page() throws IOException {
    return Files.readString(ROOT.resolve("docs/reliability.md"));
  }

  private static List<MatchResult> named(String page) {
    return NAMED.matcher(page).results().toList();
  }

  private static boolean exists(MatchResult test, String source) {
    return test.group(2) == null ? !source.isEmpty() : source.contains(" " + test.group(2));
  }

  private static boolean isSlow(MatchResult test, Map<String, String> sources) {
    if (isSlowClass(test.group(1), sources)) {
      return true;
    }
    List<MatchResult> methods =
        METHOD
            .matcher(sources.getOrDefault(test.group(1), ""))
            .results()
            .filter(method -> test.group(2) != null && method.group(2).startsWith(test.group(2)))
            .toList();
    return !methods.isEmpty()
        && methods.stream().allMatch(method -> method.group(1).contains(SLOW_METHOD));
  }

  private static boolean isSlowClass(String name, Map<String, String> sources) {
    String source = sources.getOrDefault(name, "");
    Matcher superclass = SUPERCLASS.matcher(source);
    return SLOW_CLASS.matcher(source).find()
        || (superclass.find() && isSlowClass(superclass.group(1), sources));
  }

  /** The text of each test class by its simple name. */
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = new TreeMap<>();
    for (String module :
        List.of(
            "core",
            "native",
            "benchmarks/two-hosts",
            "spark-connector",
            "cli",
            "benchmarks",
            "examples")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          String name = file.getFileName().toString();
          sources.put(name.substring(0, name.length() - ".java".length()), Files.readString(file));
        }
      }
    }
    return sources;
  }
}
