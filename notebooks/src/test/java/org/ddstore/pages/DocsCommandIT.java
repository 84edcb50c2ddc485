// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.cli.Launcher;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code ./ddstore docs}, with the Javadoc and mermaid. */
@Tag("system")
@Tag("slow")
@Tag("always")
class DocsCommandIT {
  /** Resources that a browser loads from other hosts. */
  private static final String FOREIGN =
      "(?s)<(script|link|img|iframe)\\b[^>]*\\b(src|href)=\"?(https?:)?//"
          + "|(url\\(|@import )[\"']?(https?:)?//";

  private static final String NO_PACKAGES = "docs: needs Python";

  @TempDir private Path folder;
  private Path site;
  private Launcher launcher;

  @BeforeEach
  void create() throws IOException {
    site = folder.resolve("site");
    launcher = new Launcher(Files.createDirectory(folder.resolve("work")));
  }

  private static Launcher.Outcome checked(Launcher.Outcome outcome) {
    boolean found = !outcome.err().contains(NO_PACKAGES);
    Needed.check("the Python packages of the site", found, outcome::err);
    return outcome;
  }

  @Test
  void writesASiteAndReplacesIt() throws Exception {
    Files.createDirectories(site.resolve("assets"));
    Files.createFile(site.resolve("assets/mermaid.min.js")); // of a former site
    Path old = Files.createFile(site.resolve("old.html"));

    Launcher.Outcome outcome = checked(launcher.run("docs", "--output=" + site));

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out().lines()).last().isEqualTo(site.resolve("index.html").toString());
    assertThat(old).doesNotExist();
    assertThat(site.resolve("assets/mermaid.min.js")).isNotEmptyFile();
    assertThat(site.resolve("javadoc/org/ddstore/spark/StoreSpec.html")).exists();
    assertThat(site.resolve("notebooks/java-1-quickstart.html"))
        .content()
        .contains("java-1-quickstart_files/", "<code>"); // a chart, and a cell
    assertThat(site.resolve("options.html"))
        .content()
        .contains("<a href=\"javadoc/org/ddstore/spark/StoreSpec.html\"><code>StoreSpec");
    assertOnlyPagesArePublished();
    assertNothingIsLoadedFromOtherHosts();
    assertGuidesRankFirst();
    for (String line : Files.readAllLines(Page.ROOT.resolve("docs/redirects.txt"))) {
      assertRedirects(line.split("(\\.md)?[ #]|\\.md$"));
    }
  }

  /** Pages without their suffix, the old and the new one, and the anchor if there is one. */
  private void assertRedirects(String... pages) {
    assertThat(site.resolve(pages[0] + ".html")).content().contains("http-equiv=\"refresh\"");
    assertThat(site.resolve(pages[1].replaceFirst("README$", "index") + ".html"))
        .content()
        .contains(pages.length > 2 ? "id=\"%s\"".formatted(pages[2]) : "<article");
  }

  private List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.walk(site)) {
      return files.filter(file -> file.toString().endsWith(ending)).toList();
    }
  }

  private void assertOnlyPagesArePublished() throws IOException {
    assertThat(Stream.of(".md", ".py", ".txt", ".lock", ".ipynb"))
        .allSatisfy(
            ending ->
                assertThat(files(ending)) // the Javadoc has licences
                    .allMatch(file -> file.startsWith(site.resolve("javadoc"))));
  }

  private void assertNothingIsLoadedFromOtherHosts() throws IOException {
    for (String ending : Set.of(".html", ".css")) {
      assertThat(files(ending))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(file).content().doesNotContainPattern(FOREIGN));
    }
  }

  private void assertGuidesRankFirst() throws IOException {
    Path index = site.resolve("search/search_index.json");
    for (JsonNode entry : new ObjectMapper().readTree(index.toFile()).get("docs")) {
      String page = entry.get("location").asText();
      double boost = entry.path("boost").asDouble(1);
      if (page.startsWith("guide/")) {
        assertThat(boost).as(page).isGreaterThan(1);
      } else if (page.startsWith("design/") || page.startsWith("decisions/")) {
        assertThat(boost).as(page).isLessThan(1);
      }
    }
  }

  /** In a copy of the pages, beside links to everything else. */
  @Test
  void refusesLinksWithoutATarget() throws Exception {
    Path copy = Files.createDirectory(folder.resolve("copy"));
    launcher.bash(
        "ln -s '%s'/* '%s' && cd '%2$s' && rm ddstore docs && cp -r '%1$s'/{ddstore,docs} ."
            .formatted(Page.ROOT, copy));
    Files.writeString(
        copy.resolve("docs/guide/tutorial.md"), "# T\n\n[a](gone.md), [b](concepts.md#gone)\n");

    Launcher.Outcome outcome =
        checked(launcher.bash("'%s/ddstore' docs --output '%s'".formatted(copy, site)));

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err()).contains("gone.md", "#gone");
  }

  @Test
  void refusesBadArguments() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    for (String output : List.of("", file.toString(), folder.toString())) {
      assertThat(launcher.run("docs", "--output", output).exitCode()).as(output).isEqualTo(2);
    }
    assertThat(launcher.run("docs", "--other").exitCode()).isEqualTo(2);
  }
}
