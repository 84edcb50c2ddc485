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
      converter = ColumnName.class,
      description = "Columns to load, all by default; a.b is column b of struct a.")
  List<String> fields = new ArrayList<>();

  @Option(
      names = "--type",
      paramLabel = "NAME=TYPE[SHAPE]",
      converter = FieldType.Converter.class,
      description = {
        "Type and shape of a field, as in image=uint8[28,28], or points=float32[?,2] if its first"
            + " dimension varies.",
        "Required for arrays of arrays. Can be repeated."
      })
  List<FieldType> types = new ArrayList<>();

  @Option(
      names = "--order-by",
      paramLabel = "COLUMN",
      split = ",",
      converter = ColumnName.class,
      description = {
        "Columns by which rows are numbered, ascending; ties keep the order of the source.",
        "By default rows are numbered by file path and position in the file."
      })
  List<String> orderBy = new ArrayList<>();

  @Option(
      names = "--fill-nulls",
      paramLabel = "COLUMN=VALUE",
      converter = ColumnValue.Converter.class,
      description = {
        "Value that replaces nulls of a column, and null elements of its arrays; nulls are errors"
            + " by default.",
        "Dates are given as 2024-02-29, timestamps as 2024-02-29 12:00:00, binary as hexadecimal"
            + " digits. Can be repeated."
      })
  List<ColumnValue> fills = new ArrayList<>();

  @Option(
      names = "--pad",
      paramLabel = "COLUMN=VALUE",
      converter = ColumnValue.Converter.class,
      description =
          "Value with which arrays that are shorter than the shape of --type are padded. Can be"
              + " repeated.")
  List<ColumnValue> pads = new ArrayList<>();

  @Option(
      names = "--truncate",
      paramLabel = "COLUMN",
      split = ",",
      converter = ColumnName.class,
      description = "Columns whose arrays are truncated to the shape of --type.")
  List<String> truncated = new ArrayList<>();

  @Option(
      names = "--decimals",
      paramLabel = "[COLUMN=]FORM",
      converter = ColumnValue.FormConverter.class,
      description = {
        "Form in which decimals of a column, or of all columns, are stored: int64, the unscaled"
            + " value, or float64. Decimals are errors by default.",
        "Can be repeated."
      })
  List<ColumnValue> decimals = new ArrayList<>();

  /** Adds a type unless the user has declared one for the column. */
  void addType(FieldType type) {
    if (types.stream().noneMatch(given -> given.column().equals(type.column()))) {
      types.add(type);
    }
  }
}
