// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.ddstore.types.DType;

/** The interface with which a caller describes a load, used to phrase remedies in messages. */
public enum Wording {
  /** Methods of {@code StoreSpec}. */
  METHODS,
  /** Options of {@code df.write} and of SQL. */
  OPTIONS,
  /** Flags of the command line. */
  FLAGS;

  /** Returns how to declare the shape of a column of arrays. */
  String declaration(String column, DType dtype) {
    return switch (this) {
      case METHODS ->
          "field(\"%1$s\", %2$s, ..) or raggedField(\"%1$s\", %2$s, ..)"
              .formatted(column, dtype.name());
      case OPTIONS ->
          "option \"type.%1$s\" as \"%2$s[28,28]\", or \"%2$s[?,28]\" if the first dimension varies"
              .formatted(column, dtype);
      case FLAGS ->
          "--type %1$s=%2$s[28,28], or %1$s=%2$s[?,28] if the first dimension varies"
              .formatted(column, dtype);
    };
  }

  /** Returns how to declare a column of arrays as ragged. */
  String raggedDeclaration(String column, DType dtype, int... innerShape) {
    String type =
        Arrays.stream(innerShape)
            .mapToObj(dimension -> "," + dimension)
            .collect(Collectors.joining("", dtype + "[?", "]"));
    return switch (this) {
      case METHODS ->
          Arrays.stream(innerShape)
              .mapToObj(dimension -> ", " + dimension)
              .collect(
                  Collectors.joining("", "raggedField(\"" + column + "\", " + dtype.name(), ")"));
      case OPTIONS -> "option \"type.%s\" as \"%s\"".formatted(column, type);
      case FLAGS -> "--type %s=%s".formatted(column, type);
    };
  }

  /** Returns how to select columns in order to leave one out. */
  String selection() {
    return switch (this) {
      case METHODS -> "columns(..)";
      case OPTIONS -> "option \"columns\"";
      case FLAGS -> "--fields";
    };
  }

  /** Returns the name of the option for sort columns. */
  String order() {
    return this == FLAGS ? "--order-by" : "orderBy";
  }

  /**
   * Returns the remedy for a null.
   *
   * @param isElement whether the null is an element of an array
   */
  String remedyOfNull(ColumnPath column, boolean isElement) {
    return switch (this) {
      case METHODS ->
          "set a value with fillNulls(\"%s\", ..) or filter the rows".formatted(column.name());
      case OPTIONS ->
          (isElement
                  ? "put transform(%s, e -> coalesce(e, ..)) into the query or filter the rows"
                  : "put coalesce(%s, ..) into the query or filter the rows")
              .formatted(column.inSql());
      case FLAGS -> "write files without nulls, or leave the column out with --fields";
    };
  }

  /**
   * Returns the remedy for an array shorter than its declared shape.
   *
   * @param isFlat whether the elements are numbers, not arrays
   */
  String remedyOfShort(ColumnPath column, int length, boolean isFlat) {
    return switch (this) {
      case METHODS -> "pad it with pad(\"%s\", ..)".formatted(column.name());
      case OPTIONS ->
          isFlat
              ? "pad it in the query, as in concat(%1$s, array_repeat(0, %2$d - size(%1$s)))"
                  .formatted(column.inSql(), length)
              : "pad it in the query";
      case FLAGS -> "write files with arrays of one length";
    };
  }

  /**
   * Returns the remedy for an array longer than its declared shape.
   *
   * @param isFlat whether the elements are numbers, not arrays
   */
  String remedyOfLong(ColumnPath column, int length, boolean isFlat) {
    return switch (this) {
      case METHODS -> "truncate it with truncate(\"%s\")".formatted(column.name());
      case OPTIONS ->
          isFlat
              ? "truncate it in the query, as in slice(%s, 1, %d)".formatted(column.inSql(), length)
              : "truncate it in the query";
      case FLAGS -> "write files with arrays of one length";
    };
  }
}
