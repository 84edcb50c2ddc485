// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;

/** The entry point of {@code ./ddstore docs}. */
public final class SiteMain {
  private SiteMain() {}

  /**
   * Writes the site, prints a summary and the path of its first page. Exits with 1 if a link has no
   * target.
   *
   * @param arguments root folder of the project, folder of the site, folder of mermaid
   */
  public static void main(String[] arguments) {
    try {
      System.exit(run(Path.of(arguments[0]), Path.of(arguments[1]), Path.of(arguments[2])));
    } catch (FileSystemException e) {
      // The message of some is the name of the file alone.
      System.err.printf("ddstore: docs: %s: %s%n", e.getClass().getSimpleName(), e.getMessage());
      System.exit(1);
    } catch (IOException e) {
      System.err.println("ddstore: docs: " + e.getMessage());
      System.exit(1);
    }
  }

  private static int run(Path root, Path folder, Path mermaid) throws IOException {
    Pages pages = Pages.read(root);
    LinkCheck links = LinkCheck.of(pages);
    if (!links.problems().isEmpty()) {
      return fail(links.problems());
    }
    Site site = new Site(pages, folder.toAbsolutePath().normalize());
    site.clear();
    ApiTypes api = site.writeJavadoc();
    site.writePages(api, links, mermaid);
    SiteCheck.Result check = SiteCheck.of(folder);
    if (!check.problems().isEmpty()) {
      return fail(check.problems());
    }
    System.out.printf(
        "Pages    %,d, with %,d links to each other and to files, all checked%n",
        pages.all().size(), links.count() - links.external().size());
    System.out.printf(
        "Javadoc  %,d types; %,d links in the files of the site, all checked%n",
        api.paths().size(), check.count());
    System.out.printf(
        "Hosts    %,d links to other hosts, not fetched: %s%n",
        links.external().size(), folder.resolve(Site.EXTERNAL));
    System.out.println(folder.toAbsolutePath().normalize().resolve("index.html"));
    return 0;
  }

  private static int fail(List<String> problems) {
    problems.forEach(System.err::println);
    System.err.printf("ddstore: docs: %,d problems of links%n", problems.size());
    return 1;
  }
}
