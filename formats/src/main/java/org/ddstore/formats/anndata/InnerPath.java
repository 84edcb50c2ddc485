// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import org.ddstore.formats.FormatException;
import org.ddstore.formats.zarr.ZarrGroup;

/** The paths of objects, which are made of names that a file contains. */
final class InnerPath {
  private InnerPath() {}

  /**
   * {@return the path}
   *
   * @throws FormatException if it can lead out of the file or folder
   */
  static String require(String file, String path) {
    if (!path.isEmpty() && !ZarrGroup.isInside(path)) { // the root is the empty path
      throw FormatException.of(
          file,
          path,
          "the name can lead out of the file: names have no part that is empty, \".\" or \"..\"");
    }
    return path;
  }
}
