// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinkCheckTest {
  @TempDir private Path root;
  private SmallProject project;

  @BeforeEach
  void create() throws IOException {
    project = SmallProject.create(root);
  }

  private LinkCheck check() throws IOException {
    return LinkCheck.of(project.pages());
  }

  @Test
  void acceptsFilesFoldersAndAnchors() throws IOException {
    project
        .with("core/Source.java", "")
        .with("docs/picture.png", "")
        .with("docs/design/README.md", "# Design\n\n[all](../README.md#a-place-of-c)\n")
        .with(
            "docs/README.md",
            "# Pages\n\n## A place, of `C`!\n\n[here](#a-place-of-c) [folder](design)"
                + " [source](../core/Source.java) [folder of sources](../core) ![](picture.png)\n");

    assertThat(check().problems()).isEmpty();
    assertThat(check().count()).isEqualTo(7);
  }

  @Test
  void numbersEqualHeadings() throws IOException {
    project.with(
        "docs/README.md", "# Pages\n\n## Loss\n\n## Loss\n\n[one](#loss) [two](#loss-1)\n");

    assertThat(check().problems()).isEmpty();
  }

  @Test
  void findsAnchorsInHtml() throws IOException {
    project.with("docs/README.md", "# Pages\n\n<a id=\"old-name\"></a>\n\n[here](#old-name)\n");

    assertThat(check().problems()).isEmpty();
  }

  @Test
  void namesPageAndLineOfEachProblem() throws IOException {
    project
        .with("core/Source.java", "")
        .with(
            "docs/README.md",
            """
            # Pages

            Text, and a [page](gone.md) that
            moved, an [anchor](../README.md#gone).

            | table |
            |---|
            | row |
            | a [cell](#gone) |

            - an ![image](gone.png)
            - a [secret](../../outside.md), [root](/README.md)
            - a [line](../core/Source.java#L1)
            """);

    assertThat(check().problems())
        .containsExactly(
            "docs/README.md:3: gone.md: there is no docs/gone.md",
            "docs/README.md:4: ../README.md#gone: README.md has no heading #gone",
            "docs/README.md:9: #gone: docs/README.md has no heading #gone",
            "docs/README.md:11: gone.png: there is no docs/gone.png",
            "docs/README.md:12: ../../outside.md: it is outside of the project",
            "docs/README.md:12: /README.md: it is outside of the project",
            "docs/README.md:13: ../core/Source.java#L1: core/Source.java is not a page and has no"
                + " headings");
  }

  @Test
  void listsOtherHostsWithoutFetchingThem() throws IOException {
    project.with(
        "docs/README.md", "# Pages\n\n[a](https://a.example/x#y)\n\n<https://b.example>\n");

    assertThat(check().problems()).isEmpty();
    assertThat(check().external())
        .containsExactly(
            "docs/README.md:3: https://a.example/x#y", "docs/README.md:5: https://b.example");
  }

  @Test
  void ignoresLinksInCode() throws IOException {
    project.with("docs/README.md", "# Pages\n\n`[a](gone.md)`\n\n```\n[b](gone.md)\n```\n");

    assertThat(check().problems()).isEmpty();
  }

  @Test
  void namesPagesToWhichNoLinkLeads() throws IOException {
    project
        .with("notebooks/README.md", "# Notebooks\n\n[other](../docs/other.md)\n")
        .with("docs/other.md", "# Other\n\n[back](../notebooks/README.md)\n");

    assertThat(check().problems())
        .containsExactly(
            "docs/other.md:1: no path of links leads to it from README.md",
            "notebooks/README.md:1: no path of links leads to it from README.md");
  }
}
