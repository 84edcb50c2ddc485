// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A project of a few pages in a temporary folder.
 *
 * @param root root folder of the project
 */
record SmallProject(Path root) {

  /** Creates a project whose start leads to its list of pages. */
  static SmallProject create(Path root) throws IOException {
    return new SmallProject(root)
        .with("README.md", "# Start\n\n[Pages](docs/README.md)\n")
        .with("docs/README.md", "# Pages\n");
  }

  /** Writes a file. */
  SmallProject with(String path, String text) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    return this;
  }

  Pages pages() throws IOException {
    return Pages.read(root);
  }

  /** Renders a page without Javadoc. */
  String html(String path) throws IOException {
    Pages pages = pages();
    return PageHtml.render(pages.find(path).orElseThrow(), pages, ApiTypes.NONE);
  }
}
