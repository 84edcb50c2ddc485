// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes of classes and methods, and the lists of classes that a reader opens. */
class StructureTest {
  private static final Modules MODULES = Modules.ofProject();

  private static final int MOST_WORDS = 2500;

  private static final Map<String, String> SOURCES =
      Map.of(
          "a.Door", "class Door { Hall hall; }",
          "a.Hall", "/** Leads to {@link Attic}. */ class Hall { Way way; // not Attic\n}",
          "a.Way", "interface Way {}",
          "b.Path",
              "import a.Way;\n\nfinal class Path extends Base\n    implements Way { /* see Hallway */ }",
          "a.Attic", "class Attic {}");

  private static Optional<String> source(String name) {
    return Optional.ofNullable(SOURCES.get(name));
  }

  private static ReadingPath list(String... classes) {
    StringBuilder page = new StringBuilder("## Reading\n\n### A local getBatch\n\nText.\n\n");
    for (int i = 0; i < classes.length; i++) {
      page.append("%d. `%s`: opens\n   the next.\n".formatted(i + 1, classes[i]));
    }
    page.append("\n## Other\n\n1. `a.Attic`: not of the list.\n");
    return ReadingPath.find(page.toString(), "A local getBatch").orElseThrow();
  }

  @Test
  void classesAndMethodsFitTheirLimits() throws IOException {
    SourceSizes sizes = SourceSizes.of(MODULES.javaFiles());

    assertThat(sizes.classes()).as("classes").hasSizeGreaterThan(300);
    assertThat(sizes.methods()).as("methods").hasSizeGreaterThan(1000);
    assertThat(sizes.longClasses()).as("classes above 400 lines").isEmpty();
    assertThat(sizes.longMethods()).as("methods above 60 lines").isEmpty();
  }

  @Test
  void noTwoFilesShareAName() throws IOException {
    Map<String, List<Path>> files =
        MODULES.javaFiles().stream()
            .collect(Collectors.groupingBy(file -> file.getFileName().toString()));

    assertThat(files.values()).allSatisfy(sameName -> assertThat(sameName).hasSize(1));
  }

  @Test
  void countsLinesOfClassesAndMethods(@TempDir Path folder) throws IOException {
    String body = "    int i = 0;\n".repeat(58);
    Path file = folder.resolve("Sample.java");
    Files.writeString(
        file,
        "class Sample {\n  /** Doc. */\n  @Deprecated\n  void tooLong() {\n%s  }\n\n  void fits() {\n%s  }\n%s}\n"
            .formatted(body, body, "\n".repeat(400)));

    SourceSizes sizes = SourceSizes.of(List.of(file));

    assertThat(sizes.longClasses())
        .containsExactly(new SourceSizes.Size("Sample", 1 + 3 + 58 + 1 + 1 + 60 + 400 + 1));
    assertThat(sizes.longMethods()).containsExactly(new SourceSizes.Size("Sample#tooLong", 61));
    assertThat(sizes.methods()).contains(new SourceSizes.Size("Sample#fits", 60));
  }

  @ParameterizedTest
  @ValueSource(strings = {"A local getBatch", "A getBatch over tcp", "The loading of a row"})
  void listsOfThePageHold(String title) throws IOException {
    String page = Files.readString(MODULES.root().resolve("docs/architecture.md"));
    Optional<ReadingPath> path = ReadingPath.find(page, title);

    assertThat(path).as("list \"%s\" of docs/architecture.md", title).isPresent();
    assertThat(path.orElseThrow().problems(MODULES::source)).isEmpty();
  }

  @Test
  void architecturePageCanBeReadInTenMinutes() throws IOException {
    String page = Files.readString(MODULES.root().resolve("docs/architecture.md"));

    assertThat(page.strip().split("\\s+")).hasSizeLessThanOrEqualTo(MOST_WORDS);
  }

  @Test
  void acceptsAListInWhichEachClassIsReachable() throws IOException {
    assertThat(list("a.Door", "a.Hall", "a.Way", "b.Path").classes())
        .containsExactly("a.Door", "a.Hall", "a.Way", "b.Path");
    assertThat(list("a.Door", "a.Hall", "a.Way", "b.Path").problems(StructureTest::source))
        .isEmpty();
  }

  @Test
  void rejectsClassesThatNoEarlierOneNames() throws IOException {
    assertThat(list("a.Door", "a.Way").problems(StructureTest::source))
        .containsExactly("a.Way is not named by a class before it");
    assertThat(list("b.Path", "a.Hall").problems(StructureTest::source))
        .containsExactly("a.Hall is not named by a class before it");
    assertThat(list("a.Door", "a.Hall", "a.Attic").problems(StructureTest::source))
        .containsExactly("a.Attic is not named by a class before it");
  }

  @Test
  void rejectsMissingClassesWrongNumbersAndLongLists() throws IOException {
    assertThat(list("a.Door", "a.Gone").problems(StructureTest::source))
        .containsExactly("a.Gone has no file");
    assertThat(list().problems(StructureTest::source))
        .containsExactly("0 classes, expected 1 to 14");
    ReadingPath renumbered =
        new ReadingPath("A local getBatch", 1, List.of(1, 3), List.of("a.Door", "a.Hall"));
    assertThat(renumbered.problems(StructureTest::source))
        .containsExactly("2 classes, expected 1 to 1", "a.Hall has number 3, expected 2");
  }

  @Test
  void printsTheFigures() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      StructureReport.print(MODULES.root(), out);
    }

    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .containsPattern("core +org\\.ddstore\\.types +\\d+\n")
        .containsPattern("two-hosts +org\\.ddstore\\.hosts +\\d+\n")
        .contains("Cycles between packages: none")
        .containsPattern("Layers of the connector: \\d+\n   1  org\\.ddstore\\.spark")
        .contains("Longest classes, in lines (at most 400)")
        .contains("Longest methods, in lines (at most 60)")
        .containsPattern("The loading of a row +\\d+ of at most 20")
        .contains("Runtime jar");
  }
}
