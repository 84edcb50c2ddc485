// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.nio.file.Path;

/** Paths of files in the site. */
final class SitePaths {
  /** The folder of the Javadoc. */
  static final String API = "api";

  /** The folder of style sheet and scripts. */
  static final String ASSETS = "assets";

  private SitePaths() {}

  /**
   * Returns the path of a file as a link to it from another file.
   *
   * @param from file that contains the link
   * @param to file to which the link leads
   */
  static String relative(String from, String to) {
    Path folder = Path.of(from).getParent();
    Path path = folder == null ? Path.of(to) : folder.relativize(Path.of(to));
    return path.toString().replace('\\', '/');
  }
}
