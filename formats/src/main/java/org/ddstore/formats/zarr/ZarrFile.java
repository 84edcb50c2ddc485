// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Serializable;
import java.util.List;

/**
 * The description of a file, which is a group or an array, for its readers.
 *
 * @param parts arrays of the columns, in order
 * @param boxes boxes of a row each; null if a row is an index of the first axis
 * @param leftOut paths of files, relative to the group, that the keys of the chunks do not name
 */
record ZarrFile(List<Part> parts, BoxPlan boxes, List<String> leftOut) implements Serializable {
  ZarrFile {
    parts = List.copyOf(parts);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * An array.
   *
   * @param path path in the group; empty if the file is the array
   * @param json metadata of the array when it was planned
   */
  record Part(String path, String json) implements Serializable {}
}
