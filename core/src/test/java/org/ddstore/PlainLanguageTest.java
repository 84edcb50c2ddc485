// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Sources and pages contain no phrase that reads as if it were translated. */
class PlainLanguageTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path SELF = Path.of("core/src/test/java/org/ddstore/PlainLanguageTest.java");

  /** Phrases with what to write in their place. */
  private static final List<Phrase> PHRASES =
      List.of(
          new Phrase("unless said|if it is not said|unless it is said", "by default"),
          new Phrase("for people\\b|for whoever", "human-readable"),
          new Phrase("of no use any ?more", "unusable"),
          new Phrase("as many as there are", "all"),
          new Phrase("\\bso many\\b", "the number, or all"),
          new Phrase("comes? to the end that", "agrees on"),
          new Phrase("helps who\\b", "name the option and what it adds"),
          new Phrase("nobody talks about|says who gets what", "is computed locally on every rank"),
          new Phrase("of \\{\\} slots for", "store \"{}\" needs {} slots, {} available"),
          new Phrase("rank %d brings", "schema mismatch: rank %d has .."),
          new Phrase("never of no bytes", "At least one byte, because .."),
          new Phrase("come into staging memory", "are received into staging memory"),
          new Phrase("whether it has come to|has come to where", "has reached"),
          new Phrase(
              "\\bLOG\\.(?:log\\( ?[\\w.]+, ?|(?:error|warn|info|debug)\\( ?)\"(?:\\\\\")?\\{",
              "the subject before the first value, as in store \\\"{}\\\""));

  private static final Pattern TEXT =
      Pattern.compile(
          ".*\\.(?:java|c|h|md|ipynb|xml|js|css|properties|py|txt)|ddstore|compile|build-mpi-jar");

  private static final Pattern SPACE = Pattern.compile("\\s+(?:\\*|//|#)?\\s*");

  private record Phrase(Pattern pattern, String remedy) {
    Phrase(String expression, String remedy) {
      this(Pattern.compile(expression, Pattern.CASE_INSENSITIVE), remedy);
    }
  }

  private static List<Path> texts() throws IOException {
    return ProjectFiles.below(ROOT).stream()
        .filter(file -> TEXT.matcher(file.getFileName().toString()).matches())
        .filter(file -> !file.endsWith(SELF))
        .toList();
  }

  /** A phrase may go on in the next line of a comment. */
  static List<String> findings(String name, String text) {
    String oneLine = SPACE.matcher(text).replaceAll(" ");
    List<String> findings = new ArrayList<>();
    for (Phrase phrase : PHRASES) {
      Matcher found = phrase.pattern.matcher(oneLine);
      while (found.find()) {
        String around =
            oneLine.substring(
                Math.max(0, found.start() - 30), Math.min(oneLine.length(), found.end() + 30));
        findings.add("%s: \"..%s..\": write: %s".formatted(name, around, phrase.remedy));
      }
    }
    return findings;
  }

  @Test
  void sourcesAndPagesArePlainEnglish() throws IOException {
    List<Path> texts = texts();
    assertThat(texts)
        .extracting(text -> ROOT.relativize(text).toString())
        .contains("ddstore", "pom.xml", "README.md", "notebooks/design.md", "docs/architecture.md");

    List<String> all = new ArrayList<>();
    for (Path text : texts) {
      all.addAll(findings(ROOT.relativize(text).toString(), Files.readString(text, UTF_8)));
    }
    assertThat(all).isEmpty();
  }

  @Test
  void findsAPhraseThatSpansTwoLines() {
    assertThat(findings("A.java", "  /**\n   * Takes all unless\n   * said otherwise.\n   */"))
        .hasSize(1);
    assertThat(findings("a.md", "Takes all by default.")).isEmpty();
  }

  @Test
  void findsLogLinesThatBeginWithAValue() {
    assertThat(findings("A.java", "LOG.warn(\n    \"{} failed\", name);")).hasSize(1);
    assertThat(findings("A.java", "LOG.info(\"\\\"{}\\\": ended\", name);")).hasSize(1);
    assertThat(findings("A.java", "LOG.warn(\"store \\\"{}\\\" ended\", name);")).isEmpty();
  }
}
