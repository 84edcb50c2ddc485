// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    assertThat(Pages.read(ROOT).all()).filteredOn(Page::isNotebook).as("notebooks").isNotEmpty();
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
          .doesNotContainPattern("(?s)<(link|script|img)[^>]*(href|src)=\"(?!data:)[a-z]+:");
    }
  }
}
