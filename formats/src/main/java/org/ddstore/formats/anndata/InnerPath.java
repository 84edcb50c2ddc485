// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.util.Set;
import org.ddstore.formats.FormatException;

/** The paths of objects, which are made of names that a file contains. */
final class InnerPath {
  private static final Set<String> ILLEGAL = Set.of("", ".", "..");

  private InnerPath() {}

  /**
   * {@return the path}
   *
   * @throws FormatException if it can lead out of the file or folder
   */
  static String require(String file, String path) {
    for (String name : path.isEmpty() ? new String[0] : path.split("/", -1)) {
      if (ILLEGAL.contains(name) || name.indexOf('\0') >= 0) {
        throw FormatException.of(
            file,
            path,
            "the name can lead out of the file: names have no part that is empty, \".\" or \"..\"");
      }
    }
    return path;
  }
}
