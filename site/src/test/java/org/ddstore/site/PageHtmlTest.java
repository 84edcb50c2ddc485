// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageHtmlTest {
  @TempDir private Path root;
  private SmallProject project;

  @BeforeEach
  void create() throws IOException {
    project = SmallProject.create(root);
  }

  private String html(String text) throws IOException {
    return project.with("docs/page.md", text).html("docs/page.md");
  }

  @Test
  void linksPagesInTheSite() throws IOException {
    assertThat(html("[start](../README.md) [list](README.md) [top](#top)\n\n# Top\n"))
        .contains("<a href=\"../index.html\">start</a>")
        .contains("<a href=\"index.html\">list</a>")
        .contains("<a href=\"#top\">top</a>");
  }

  @Test
  void namesPagesByTheirTitles() throws IOException {
    project.with("docs/sql.md", "# Tables\n\n## A scan\n");

    assertThat(html("[sql.md](sql.md), [docs/sql.md](sql.md#a-scan), [the scan](sql.md#a-scan)"))
        .contains("<a href=\"sql.html\">Tables</a>")
        .contains("<a href=\"sql.html#a-scan\">Tables: A scan</a>")
        .contains("<a href=\"sql.html#a-scan\">the scan</a>");
  }

  @Test
  void rendersSourcesAsText() throws IOException {
    project.with("core/Source.java", "");

    assertThat(html("[`Source`](../core/Source.java)"))
        .contains(
            "<span class=\"source\" title=\"core/Source.java in the source code\">"
                + "<code>Source</code></span>");
  }

  @Test
  void keepsTheSourceOfDiagrams() throws IOException {
    assertThat(html("```mermaid\nflowchart LR\n  a --> b\n```\n"))
        .contains("<pre class=\"diagram\"><code class=\"language-mermaid\">flowchart LR")
        .contains("a --&gt; b");
  }

  @Test
  void givesHeadingsAnchors() throws IOException {
    assertThat(html("## What `run` does\n"))
        .contains("<h2 id=\"what-run-does\">What <code>run</code> does<a class=\"anchor\"");
  }

  @Test
  void dropsComments() throws IOException {
    assertThat(html("<!-- not run: needs a cluster -->\n```shell\nls\n```\n\na <!-- b --> c\n"))
        .doesNotContain("not run")
        .doesNotContain("<!--")
        .contains("<code class=\"language-shell\">ls");
  }

  @Test
  void rendersTablesAndTasks() throws IOException {
    assertThat(html("| a |\n|---|\n| `x\\|y` |\n\n- [x] done\n"))
        .contains("<td><code>x|y</code></td>")
        .contains("type=\"checkbox\"");
  }

  @Test
  void refusesABrokenLink() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> html("[a](gone.md)"))
        .withMessage("docs/page.md: gone.md: there is no docs/gone.md");
  }

  @Test
  void linksTypesInCodeToTheirJavadoc(@TempDir Path api) throws IOException {
    Files.writeString(
        api.resolve("type-search-index.js"),
        "typeSearchIndex = [{\"l\":\"All Classes\",\"u\":\"allclasses-index.html\"},"
            + "{\"p\":\"org.ddstore\",\"l\":\"Batch\"},{\"p\":\"org.ddstore.spark\",\"l\":\"A.B\",\"k\":\"3\"}];");
    project.with("docs/page.md", "`Batch` `org.ddstore.Batch` `A.B` `Other` [`Batch`](README.md)");
    Pages pages = project.pages();

    String html =
        PageHtml.render(pages.find("docs/page.md").orElseThrow(), pages, ApiTypes.read(api));

    String link = "<a class=\"api\" href=\"../api/org/ddstore/Batch.html\"><code>%s</code></a>";
    assertThat(html)
        .contains(link.formatted("Batch"))
        .contains(link.formatted("org.ddstore.Batch"))
        .contains("href=\"../api/org/ddstore/spark/A.B.html\"><code>A.B</code>")
        .contains(" <code>Other</code> ")
        .contains("<a href=\"index.html\"><code>Batch</code></a>");
  }
}
