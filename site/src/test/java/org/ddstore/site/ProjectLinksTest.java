// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The links of this project's pages, in the repository and in the site. */
class ProjectLinksTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  @Test
  void everyLinkHasATargetAndEveryPageIsReached() throws IOException {
    LinkCheck links = LinkCheck.of(Pages.read(ROOT));

    assertThat(links.problems()).as("problems of links").isEmpty();
    assertThat(links.count()).as("links").isGreaterThan(300);
  }

  /** The pages of the site do not contain notebooks, whose text is in Markdown, too. */
  @Test
  void everyLinkOfNotebooksHasATarget() throws IOException {
    Pages pages = Pages.read(ROOT);
    List<String> problems = new ArrayList<>();
    int count = 0;
    for (Path file : notebooks()) {
      for (JsonNode cell : new ObjectMapper().readTree(file.toFile()).get("cells")) {
        if (cell.get("cell_type").asText().equals("markdown")) {
          StringBuilder text = new StringBuilder();
          cell.get("source").forEach(line -> text.append(line.asText()));
          Page page = Page.parse(ROOT.relativize(file).toString(), text.toString());
          for (Page.Reference reference : page.references()) {
            count++;
            if (pages.resolve(page, reference.target()) instanceof LinkTarget.Broken broken) {
              String place = page.path() + ", cell " + cell.get("id") + ": " + reference.target();
              problems.add(place + ": " + broken.reason());
            }
          }
        }
      }
    }
    assertThat(problems).as("problems of links").isEmpty();
    assertThat(count).as("links").isGreaterThan(10);
  }

  private static List<Path> notebooks() throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve("notebooks"))) {
      return files.filter(file -> file.toString().endsWith(".ipynb")).sorted().toList();
    }
  }

  /** Without the Javadoc, which takes long and whose links the command docs checks. */
  @Test
  void theSiteIsComplete(@TempDir Path folder) throws IOException {
    Path mermaid = Files.createDirectory(folder.resolve("mermaid"));
    Files.writeString(mermaid.resolve("mermaid.min.js"), "");
    Files.writeString(mermaid.resolve("LICENSE"), "");
    Pages pages = Pages.read(ROOT);
    Path output = folder.resolve("site");
    Site site = new Site(pages, output);
    site.clear();

    site.writePages(ApiTypes.NONE, LinkCheck.of(pages), mermaid);

    SiteCheck.Result check = SiteCheck.of(output);
    assertThat(check.problems()).as("problems of links in the site").isEmpty();
    assertThat(check.count()).as("links in the site").isGreaterThan(1000);
    for (Page page : pages.all()) {
      assertThat(Files.readString(output.resolve(page.sitePath())))
          .as("resources of other hosts in " + page)
          .doesNotContainPattern("(?s)<(link|script|img)[^>]*(href|src)=\"[a-z]+:");
    }
  }
}
