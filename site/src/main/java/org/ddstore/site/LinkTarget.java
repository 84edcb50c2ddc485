// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

/** The target of a link. */
sealed interface LinkTarget {

  /** An address outside of the project. */
  record External(String address) implements LinkTarget {}

  /**
   * A page, or a place in it.
   *
   * @param anchor an anchor of the page; empty for its beginning
   */
  record ToPage(Page page, String anchor) implements LinkTarget {
    /** Returns the title of the page, and the heading of the place in it. */
    String title() {
      return page.titles().stream()
          .filter(title -> title.level() > 1 && title.anchor().equals(anchor))
          .findFirst()
          .map(title -> page.title() + ": " + title.text())
          .orElse(page.title());
    }
  }

  /**
   * A picture, which the site contains.
   *
   * @param path path below the root folder of the project
   */
  record Picture(String path) implements LinkTarget {}

  /**
   * A file or folder of the project that is not a page, such as a source file.
   *
   * @param path path below the root folder of the project
   */
  record SourceFile(String path) implements LinkTarget {}

  /**
   * A target that does not exist.
   *
   * @param reason what is missing
   */
  record Broken(String reason) implements LinkTarget {}
}
