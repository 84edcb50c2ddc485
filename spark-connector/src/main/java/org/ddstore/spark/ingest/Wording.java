package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.ddstore.types.DType;

/** The interface by which a caller describes a load: messages name remedies as it knows them. */
public enum Wording {
  /** Methods of {@code StoreSpec}. */
  METHODS,
  /** Options of {@code df.write} and of SQL. */
  OPTIONS,
  /** Flags of the command line. */
  FLAGS;

  /** How to declare the shape of a column of arrays. */
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

  /** How to declare a column of arrays as ragged. */
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

  /** How to choose columns, so that one of them is left out. */
  String selection() {
    return switch (this) {
      case METHODS -> "columns(..)";
      case OPTIONS -> "option \"columns\"";
      case FLAGS -> "--fields";
    };
  }

  /** How the columns to order by are given. */
  String order() {
    return this == FLAGS ? "--order-by" : "orderBy";
  }

  /**
   * What helps against a null.
   *
   * @param isElement whether it is an element of an array
   */
  String remedyOfNull(ColumnPath column, boolean isElement) {
    return switch (this) {
      case METHODS ->
          "give a value with fillNulls(\"%s\", ..) or filter the rows".formatted(column.name());
      case OPTIONS ->
          (isElement
                  ? "put transform(%s, e -> coalesce(e, ..)) into the query or filter the rows"
                  : "put coalesce(%s, ..) into the query or filter the rows")
              .formatted(column.inSql());
      case FLAGS -> "write files without nulls, or leave the column out with --fields";
    };
  }

  /**
   * What helps against an array that is too short for a declared shape.
   *
   * @param isFlat whether its elements are numbers, not arrays
   */
  String remedyOfShort(ColumnPath column, int length, boolean isFlat) {
    return switch (this) {
      case METHODS -> "fill it up with pad(\"%s\", ..)".formatted(column.name());
      case OPTIONS ->
          isFlat
              ? "fill it up in the query, as concat(%1$s, array_repeat(0, %2$d - size(%1$s)))"
                  .formatted(column.inSql(), length)
              : "fill it up in the query";
      case FLAGS -> "write files with arrays of one length";
    };
  }

  /**
   * What helps against an array that is too long for a declared shape.
   *
   * @param isFlat whether its elements are numbers, not arrays
   */
  String remedyOfLong(ColumnPath column, int length, boolean isFlat) {
    return switch (this) {
      case METHODS -> "cut it with truncate(\"%s\")".formatted(column.name());
      case OPTIONS ->
          isFlat
              ? "cut it in the query, as slice(%s, 1, %d)".formatted(column.inSql(), length)
              : "cut it in the query";
      case FLAGS -> "write files with arrays of one length";
    };
  }
}
