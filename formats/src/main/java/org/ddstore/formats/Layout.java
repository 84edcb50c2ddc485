// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The columns of a data set of one or several files.
 *
 * @param columns columns of the DataFrame, in order
 * @param details what the format needs to read a file as a part of the data set; null if nothing
 */
public record Layout(List<SampleColumn> columns, Serializable details) implements Serializable {
  /**
   * Copies the columns.
   *
   * @param columns columns of the DataFrame
   * @param details what the format needs to read a file; may be null
   */
  public Layout {
    columns = List.copyOf(columns);
  }

  /**
   * {@return the layout of files that all have the same columns}
   *
   * @param files files of the data set, ordered by path
   * @throws FormatException if a file has others than the first one; it names file, column and both
   *     types
   */
  public static Layout ofEqual(List<FileFacts> files) {
    FileFacts first = files.get(0);
    for (FileFacts other : files) {
      requireEqual(first, other);
    }
    return new Layout(first.columns(), null);
  }

  private static void requireEqual(FileFacts first, FileFacts other) {
    if (first.columns().equals(other.columns())) {
      return;
    }
    String path = other.file().path();
    Map<String, SampleColumn> found = byName(other.columns());
    for (SampleColumn column : first.columns()) {
      if (!found.containsKey(column.name())) {
        throw FormatException.of(
            path,
            "column " + column.name(),
            "missing, but %s has it: read files of different columns one by one"
                .formatted(first.file().path()));
      }
      if (!found.get(column.name()).equals(column)) {
        throw FormatException.of(
            path,
            "column " + column.name(),
            "is %s, but %s has %s: read files of different types or shapes one by one"
                .formatted(found.get(column.name()), first.file().path(), column));
      }
    }
    Map<String, SampleColumn> known = byName(first.columns());
    for (SampleColumn column : other.columns()) {
      if (!known.containsKey(column.name())) {
        throw FormatException.of(
            path,
            "column " + column.name(),
            "%s has no such column: read files of different columns one by one"
                .formatted(first.file().path()));
      }
    }
    throw new FormatException(
        path, "the columns are in another order than in %s".formatted(first.file().path()));
  }

  private static Map<String, SampleColumn> byName(List<SampleColumn> columns) {
    Map<String, SampleColumn> names = new HashMap<>();
    columns.forEach(column -> names.put(column.name(), column));
    return names;
  }
}
