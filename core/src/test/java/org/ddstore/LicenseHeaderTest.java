// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every source file names the licence of the project in its first two lines. */
class LicenseHeaderTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final String LICENSE = "SPDX-License-Identifier: Apache-2.0";

  private static final Set<String> WITH_HASH =
      Set.of(".clang-format", ".editorconfig", "CMakeLists.txt");

  /** Returns the line that a file of this name needs; empty for a kind of file without header. */
  private static Optional<String> header(Path file, String firstLine) {
    String name = file.getFileName().toString();
    if (name.endsWith(".java") || name.endsWith(".c") || name.endsWith(".h")) {
      return Optional.of("// " + LICENSE);
    }
    if (name.equals("pom.xml")) {
      return Optional.of("<!-- " + LICENSE + " -->");
    }
    if (name.endsWith(".properties") || WITH_HASH.contains(name) || firstLine.startsWith("#!")) {
      return Optional.of("# " + LICENSE);
    }
    return Optional.empty();
  }

  /** Returns the line where a header belongs: the first one that neither a shell nor XML claims. */
  private static String headerLine(List<String> lines) {
    boolean isClaimed = lines.get(0).startsWith("#!") || lines.get(0).startsWith("<?xml");
    return lines.get(isClaimed ? 1 : 0);
  }

  private static List<String> firstLines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, UTF_8)) {
      return lines.limit(2).toList();
    } catch (UncheckedIOException e) {
      return List.of(); // not text
    }
  }

  @Test
  void everySourceFileNamesItsLicence() throws IOException {
    List<String> missing = new ArrayList<>();
    int checked = 0;
    for (Path file : ProjectFiles.below(ROOT)) {
      List<String> lines = firstLines(file);
      Optional<String> header = header(file, lines.isEmpty() ? "" : lines.get(0));
      if (header.isPresent()) {
        checked++;
        if (lines.size() < 2 || !headerLine(lines).equals(header.get())) {
          missing.add("%s: \"%s\"".formatted(ROOT.relativize(file), header.get()));
        }
      }
    }
    assertThat(checked).as("files that need a header, below " + ROOT).isGreaterThan(500);
    assertThat(missing).as("files without their header").isEmpty();
  }
}
