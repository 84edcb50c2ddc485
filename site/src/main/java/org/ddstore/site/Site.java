// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.ddstore.site.LinkTarget.Picture;

/**
 * A static site in one folder: the pages of the project, the Javadoc, a search. It needs no server
 * and no other resource.
 */
final class Site {
  /** The file that lists the links to other hosts. */
  static final String EXTERNAL = "external-links.txt";

  private static final List<String> ASSETS = List.of("site.css", "site.js", "diagrams.js");

  private final Pages pages;
  private final Path folder;
  private final Properties project = new Properties();

  /**
   * @param pages pages of the project, without problems of their links
   * @param folder folder of the site
   */
  Site(Pages pages, Path folder) throws IOException {
    this.pages = pages;
    this.folder = folder;
    try (InputStream in = Site.class.getResourceAsStream("site.properties")) {
      project.load(in);
    }
  }

  /**
   * Deletes the folder of the site with all its content, and creates it anew, with the file by
   * which the launcher knows a site.
   */
  void clear() throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> content = Files.walk(folder)) {
        for (Path path : content.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
    write(EXTERNAL, "");
  }

  /** Writes the Javadoc of the packages that users see, and returns its types. */
  ApiTypes writeJavadoc() throws IOException {
    Path api = folder.resolve(SitePaths.API);
    List<String> packages = List.of(project.getProperty("packages").split(",", -1));
    Javadoc.write(pages.root(), api, project.getProperty("version"), packages);
    return ApiTypes.read(api);
  }

  /**
   * Writes the pages with their pictures, the style sheet, the scripts and the index of the search.
   *
   * @param api types to which the pages link
   * @param links the links of the pages
   * @param mermaid folder of the build of mermaid, with its licence
   */
  void writePages(ApiTypes api, LinkCheck links, Path mermaid) throws IOException {
    PageFrame frame =
        new PageFrame(Navigation.of(pages), !api.isEmpty(), project.getProperty("version"));
    for (Page page : pages.all()) {
      write(page.sitePath(), frame.of(page, PageHtml.render(page, pages, api)));
      for (Page.Reference reference : page.references()) {
        if (pages.resolve(page, reference.target()) instanceof Picture picture) {
          copy(pages.root().resolve(picture.path()), picture.path());
        }
      }
    }
    for (String name : ASSETS) {
      try (InputStream in = Site.class.getResourceAsStream(name)) {
        Files.copy(in, create(SitePaths.ASSETS + "/" + name), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    copy(mermaid.resolve("mermaid.min.js"), SitePaths.ASSETS + "/mermaid.min.js");
    copy(mermaid.resolve("LICENSE"), SitePaths.ASSETS + "/mermaid-LICENSE.txt");
    write(SitePaths.ASSETS + "/" + SearchIndex.FILE, SearchIndex.of(pages, api));
    write(EXTERNAL, String.join("\n", links.external()) + "\n");
  }

  private void write(String path, String text) throws IOException {
    Files.writeString(create(path), text);
  }

  private void copy(Path file, String path) throws IOException {
    Files.copy(file, create(path), StandardCopyOption.REPLACE_EXISTING);
  }

  private Path create(String path) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    return file;
  }
}
