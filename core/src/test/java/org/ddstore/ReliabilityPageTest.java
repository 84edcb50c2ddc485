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
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that docs/reliability.md names are in the source tree. */
class ReliabilityPageTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** A test class, with a method or the first part of some, as the page writes them. */
  private static final Pattern NAMED =
      Pattern.compile("`(\\w+(?:Test|Contract|IT))(?:#(\\w+)(?:\\.\\.)?)?`");

  @Test
  void namesOnlyExistingTests() throws IOException {
    Map<String, String> sources = sources();
    String page = Files.readString(ROOT.resolve("docs/reliability.md"));
    List<MatchResult> named = NAMED.matcher(page).results().toList();
    assertThat(named).isNotEmpty();
    assertThat(named)
        .filteredOn(test -> !isThere(test, sources.getOrDefault(test.group(1), "")))
        .extracting(MatchResult::group)
        .as("tests that are not there")
        .isEmpty();
  }

  private static boolean isThere(MatchResult test, String source) {
    return test.group(2) == null ? !source.isEmpty() : source.contains(" " + test.group(2));
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
