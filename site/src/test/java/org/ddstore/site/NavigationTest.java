// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NavigationTest {
  @Test
  void ordersPagesAsTheListsNameThem(@TempDir Path root) throws IOException {
    SmallProject project =
        SmallProject.create(root)
            .with("docs/README.md", "[z](z.md) [b](guide/b.md) [n](../notes/README.md)\n")
            .with("docs/a.md", "# A\n")
            .with("docs/z.md", "# Z\n")
            .with("docs/guide/a.md", "# A\n")
            .with("docs/guide/b.md", "# B\n")
            .with("docs/design/README.md", "[b](b.md)\n")
            .with("docs/design/a.md", "# A\n")
            .with("docs/design/b.md", "# B\n")
            .with("notes/README.md", "# Notes\n");

    assertThat(Navigation.of(project.pages()))
        .extracting(Object::toString)
        .containsExactly(
            "Group[title=Guide, pages=[docs/guide/b.md, docs/guide/a.md]]",
            "Group[title=Reference, pages=[docs/README.md, docs/z.md, docs/a.md]]",
            "Group[title=Design, pages=[docs/design/README.md, docs/design/b.md, docs/design/a.md]]",
            "Group[title=Project, pages=[notes/README.md]]");
  }
}
