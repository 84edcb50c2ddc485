// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options for the fields and the row order of a data set, as a mixin. */
final class SourceOptions {
  @Option(
      names = "--fields",
      paramLabel = "COLUMN",
      split = ",",
      description = "Columns to load, all by default; a.b is column b of struct a.")
  private List<String> fields = new ArrayList<>();

  @Option(
      names = "--type",
      paramLabel = "NAME=TYPE[SHAPE]",
      converter = FieldType.Converter.class,
      description = {
        "Type and shape of a field, as in image=uint8[28,28], or points=float32[?,2] if its first"
            + " dimension varies.",
        "Required for arrays of arrays. Can be repeated."
      })
  private List<FieldType> types = new ArrayList<>();

  @Option(
      names = "--order-by",
      paramLabel = "COLUMN",
      split = ",",
      description = {
        "Columns by which rows are numbered, ascending; ties keep the order of the source.",
        "By default rows are numbered by file path and position in the file."
      })
  private List<String> orderBy = new ArrayList<>();

  /** Returns the columns to load; empty for all. */
  List<String> fields() {
    return fields;
  }

  List<FieldType> types() {
    return types;
  }

  /** Returns the sort columns; empty for the order of the source. */
  List<String> orderBy() {
    return orderBy;
  }

  /** Adds a type unless the user has declared one for the column. */
  void addType(FieldType type) {
    if (types.stream().noneMatch(given -> given.column().equals(type.column()))) {
      types.add(type);
    }
  }
}
