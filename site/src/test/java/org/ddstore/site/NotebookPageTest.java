// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NotebookPageTest {
  private static final String FILE = "notebooks/a.ipynb";

  @TempDir private Path root;
  private SmallProject project;

  @BeforeEach
  void create() throws IOException {
    project =
        SmallProject.create(root)
            .with("docs/README.md", "# Pages\n\n[a.ipynb](../notebooks/a.ipynb)\n");
  }

  private String html(String cells) throws IOException {
    return project.with(FILE, "{\"cells\": [%s], \"nbformat\": 4}".formatted(cells)).html(FILE);
  }

  private String output(String output) throws IOException {
    return html(
        "{\"cell_type\": \"code\", \"outputs\": [%s], \"source\": \"1\"}".formatted(output));
  }

  @Test
  void rendersTextAndCode() throws IOException {
    String html =
        html(
            """
            {"cell_type": "markdown", "source": ["# Rows\\n", "\\n", "of [pages](../docs/README.md)"]},
            {"cell_type": "code", "outputs": [], "source": ["int a =\\n", "    1 < 2;"]},
            {"cell_type": "markdown", "source": "## Rows"},
            {"cell_type": "code", "outputs": [], "source": "%%sql\\nSELECT 1"}
            """);

    assertThat(html)
        .contains("<h1 id=\"rows\">Rows")
        .contains("<a href=\"../docs/index.html\">pages</a>")
        .contains("<pre><code class=\"language-java\">int a =\n    1 &lt; 2;\n</code></pre>")
        .contains("<h2 id=\"rows-1\">Rows")
        .contains("<code class=\"language-sql\">%%sql\nSELECT 1\n");
    assertThat(project.html("docs/README.md")).contains("<a href=\"../notebooks/a.html\">Rows</a>");
    assertThat(SearchIndex.of(project.pages(), ApiTypes.NONE))
        .contains("[\"notebooks/a.html\", \"Rows\"")
        .contains("\"of pages int a = 1 < 2;\"");
  }

  @Test
  void rendersTheBestFormOfAnOutput() throws IOException {
    assertThat(output("{\"output_type\": \"stream\", \"text\": [\"a\\n\", \"<b>\\n\"]}"))
        .contains(
            "<div class=\"output\">\n<pre><code class=\"language-text\">a\n&lt;b&gt;\n</code>");
    assertThat(output("{\"data\": {\"text/html\": [\"<p>\", \"c</p>\"], \"text/plain\": \"d\"}}"))
        .contains("<div class=\"output\">\n<p>c</p>\n</div>");
    assertThat(
            output("{\"data\": {\"image/png\": \"iVBO\\nRw==\", \"text/plain\": \"a \\\"b\\\"\"}}"))
        .contains("<img src=\"data:image/png;base64,iVBORw==\" alt=\"a &quot;b&quot;\">");
    assertThat(output("{\"data\": {\"image/svg+xml\": \"<svg/>\", \"image/png\": \"iVBO\"}}"))
        .contains("<img src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"\">");
    assertThat(output("{\"data\": {\"text/plain\": \"e\"}}"))
        .contains("<code class=\"language-text\">e\n");
  }

  @Test
  void refusesAnUnknownOutput() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> output("{\"output_type\": \"error\"}"))
        .withMessage(
            "notebooks/a.ipynb: output of type \"error []\" cannot be rendered, legal: stream,"
                + " text/html, image/svg+xml, image/png, text/plain");
  }

  @Test
  void namesTheLineOfAProblem() throws IOException {
    project
        .with("docs/README.md", "[a](../notebooks/a.ipynb) [b](../notebooks/design.md#rows)\n")
        .with("notebooks/design.md", "# Rows\n")
        .with(
            FILE,
            """
            {"cells": [
              {
                "cell_type": "markdown",
                "source": [
                  "Text\\n",
                  "of [b](gone.md)"
                ]
              },
              {
                "cell_type": "markdown",
                "source": [
                  "Text\\n",
                  "of [c](gone.png)"
                ]
              }
            ]}
            """)
        .with("notebooks/own.ipynb", "of a user");

    assertThat(LinkCheck.of(project.pages()).problems())
        .containsExactly(
            "notebooks/a.ipynb:6: gone.md: there is no notebooks/gone.md",
            "notebooks/a.ipynb:13: gone.png: there is no notebooks/gone.png");
  }
}
