// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.DType;

/** The interface with which a caller describes a load, used to phrase remedies in messages. */
public enum Wording {
  /** Methods of {@code StoreSpec}. */
  METHODS,
  /** Options of {@code df.write} and of SQL. */
  OPTIONS,
  /** Flags of the command line. */
  FLAGS,
  /** A query alone, whose rows are added to a store that has its options. */
  QUERY;

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
      case QUERY -> "flatten it in the query";
    };
  }

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
      case OPTIONS, QUERY -> "option \"type.%s\" as \"%s\"".formatted(column, type);
      case FLAGS -> "--type %s=%s".formatted(column, type);
    };
  }

  /** Returns how to leave out a column that cannot be stored. */
  String leavingOut() {
    return switch (this) {
      case METHODS -> "leave it out with columns(..)";
      case OPTIONS -> "leave it out with option \"columns\"";
      case FLAGS -> "leave it out with --fields";
      case QUERY -> "cast it to the type that the column has in the store";
    };
  }

  /** Returns how to store a column of decimals in a form; empty if there is no way. */
  String decimals(String column, DecimalForm form) {
    return switch (this) {
      case METHODS -> "decimals(DecimalForm.%s, \"%s\")".formatted(form.name(), column);
      case OPTIONS -> "option \"decimals.%s\" as \"%s\"".formatted(column, form);
      case FLAGS -> "--decimals %s=%s".formatted(column, form);
      case QUERY -> "";
    };
  }

  /** Returns the name of the option for sort columns. */
  String order() {
    return this == FLAGS ? "--order-by" : "orderBy";
  }

  /** Returns the remedy for a null. */
  String remedyOfNull(ColumnPath column, boolean isElement) {
    return switch (this) {
      case METHODS ->
          "set a value with fillNulls(\"%s\", ..) or filter the rows".formatted(column.name());
      case OPTIONS ->
          "set option \"fillNulls.%s\", or %s"
              .formatted(column.name(), QUERY.remedyOfNull(column, isElement));
      case QUERY ->
          (isElement
                  ? "put transform(%s, e -> coalesce(e, ..)) into the query or filter the rows"
                  : "put coalesce(%s, ..) into the query or filter the rows")
              .formatted(column.inSql());
      case FLAGS ->
          "set a value with --fill-nulls %s=VALUE, write files without nulls, or leave the column out with --fields"
              .formatted(column.name());
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
          "set option \"pad.%s\", or %s"
              .formatted(column.name(), QUERY.remedyOfShort(column, length, isFlat));
      case QUERY ->
          isFlat
              ? "pad it in the query, as in concat(%1$s, array_repeat(.., %2$d - size(%1$s)))"
                  .formatted(column.inSql(), length)
              : "pad it in the query";
      case FLAGS ->
          "pad it with --pad %s=VALUE, or write files with arrays of one length"
              .formatted(column.name());
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
          "set option \"truncate.%s\" to \"true\", or %s"
              .formatted(column.name(), QUERY.remedyOfLong(column, length, isFlat));
      case QUERY ->
          isFlat
              ? "truncate it in the query, as in slice(%s, 1, %d)".formatted(column.inSql(), length)
              : "truncate it in the query";
      case FLAGS ->
          "truncate it with --truncate %s, or write files with arrays of one length"
              .formatted(column.name());
    };
  }
}
