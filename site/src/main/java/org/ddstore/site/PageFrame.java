// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.List;

/**
 * The HTML around the text of a page: the head, the search, the list of pages and the table of
 * contents.
 */
final class PageFrame {
  private static final String NAME = "DDStore for Spark";
  private static final int LEAST_TITLES = 2;
  private static final int MOST_LEVEL = 3;

  private final List<Navigation.Group> groups;
  private final boolean hasApi;
  private final String version;

  /**
   * @param groups pages that every page lists
   * @param hasApi whether the site has the Javadoc
   * @param version version of the project
   */
  PageFrame(List<Navigation.Group> groups, boolean hasApi, String version) {
    this.groups = groups;
    this.hasApi = hasApi;
    this.version = version;
  }

  /**
   * Returns a whole page in HTML.
   *
   * @param text text of the page in HTML
   */
  String of(Page page, String text) {
    String root = "../".repeat((int) page.sitePath().chars().filter(c -> c == '/').count());
    String scripts = script(root, "site.js");
    if (page.hasDiagrams()) {
      scripts += script(root, "mermaid.min.js") + script(root, "diagrams.js");
    }
    return """
        <!DOCTYPE html>
        <html lang="en" data-root="%1$s">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>%2$s</title>
        <link rel="stylesheet" href="%1$sassets/site.css">
        %3$s</head>
        <body>
        <a class="skip" href="#text">Skip to the text</a>
        <header>
        <a class="name" href="%1$sindex.html">%4$s</a> <span class="version">%5$s</span>
        <button class="menu" type="button" aria-controls="pages" aria-expanded="false">Pages</button>
        <div class="search" role="search">
        <input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"
            aria-label="Search all pages" aria-controls="results">
        <ol id="results" hidden></ol>
        </div>
        </header>
        <div class="columns">
        <nav id="pages" aria-label="Pages">
        %6$s</nav>
        <main id="text">
        %7$s<article>
        %8$s</article>
        <footer>Source of this page: <code>%9$s</code></footer>
        </main>
        </div>
        </body>
        </html>
        """
        .formatted(
            root,
            escape(page.path().equals(Pages.START) ? NAME : page.title() + " - " + NAME),
            scripts,
            NAME,
            escape(version),
            pages(page),
            contents(page),
            text,
            escape(page.path()));
  }

  private static String script(String root, String name) {
    return "<script src=\"%s%s/%s\" defer></script>\n".formatted(root, SitePaths.ASSETS, name);
  }

  private String pages(Page page) {
    StringBuilder list = new StringBuilder();
    for (Navigation.Group group : groups) {
      boolean isOpen = group.pages().contains(page) || page.path().equals(Pages.START);
      list.append("<details%s>\n".formatted(isOpen ? " open" : ""))
          .append("<summary>%s</summary>\n<ul>\n".formatted(escape(group.title())));
      for (Page other : group.pages()) {
        list.append(
            "<li><a href=\"%s\"%s>%s</a></li>\n"
                .formatted(
                    SitePaths.relative(page.sitePath(), other.sitePath()),
                    other == page ? " aria-current=\"page\"" : "",
                    escape(other.title())));
      }
      list.append("</ul>\n</details>\n");
    }
    if (hasApi) {
      String path = SitePaths.relative(page.sitePath(), SitePaths.API + "/index.html");
      list.append("<p><a href=\"%s\">Java API</a></p>\n".formatted(path));
    }
    return list.toString();
  }

  /** Returns the table of contents; empty for a short page. */
  private static String contents(Page page) {
    List<Page.Title> titles =
        page.titles().stream()
            .filter(title -> title.level() > 1 && title.level() <= MOST_LEVEL)
            .toList();
    if (titles.size() < LEAST_TITLES) {
      return "";
    }
    StringBuilder list =
        new StringBuilder("<details class=\"contents\">\n<summary>On this page</summary>\n<ul>\n");
    for (Page.Title title : titles) {
      list.append(
          "<li class=\"level%d\"><a href=\"#%s\">%s</a></li>\n"
              .formatted(title.level(), escape(title.anchor()), escape(title.text())));
    }
    return list.append("</ul>\n</details>\n").toString();
  }

  /** Returns a text as it stands in HTML, also in attributes. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
