// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.CalendarIntervalType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.ddstore.spark.types.DecimalForm;

/** Remedies for columns whose type cannot be stored: expressions whose results can be. */
final class TypeRemedy {
  /** Decimal digits that a double preserves. */
  private static final int DOUBLE_DIGITS = 15;

  /** Maximum decimal digits such that every number fits into a long. */
  private static final int LONG_DIGITS = 18;

  private static final Pattern SHAPE = Pattern.compile("geometry\\b|geography\\b");

  private TypeRemedy() {}

  /** Returns the remedy. */
  static String of(ColumnPath column, DataType type, Wording wording) {
    String out = wording.leavingOut();
    String remedy = inQuery(column.inSql(), type, out);
    String all =
        wording == Wording.FLAGS && !remedy.endsWith(out)
            ? "in the query that writes the files " + remedy + "; or " + out
            : remedy;
    return innermost(type) instanceof DecimalType decimal && wording != Wording.QUERY
        ? "store it by %s; or %s".formatted(forms(column.name(), decimal, wording), all)
        : all;
  }

  private static String forms(String column, DecimalType type, Wording wording) {
    String rounded =
        "%s, which rounds to %d digits"
            .formatted(wording.decimals(column, DecimalForm.FLOAT64), DOUBLE_DIGITS);
    return type.precision() > LONG_DIGITS
        ? rounded
        : "%s, which keeps all digits, or %s"
            .formatted(wording.decimals(column, DecimalForm.INT64), rounded);
  }

  private static DataType innermost(DataType type) {
    return type instanceof ArrayType array ? innermost(array.elementType()) : type;
  }

  /**
   * Returns the remedy for a caller who writes a query.
   *
   * @param out text of the advice to leave the column out
   */
  private static String inQuery(String column, DataType type, String out) {
    if (type instanceof DecimalType decimal) {
      return ofDecimal(column, decimal);
    } else if (type instanceof MapType map) {
      return isNumber(map.keyType()) && isNumber(map.valueType())
          ? "take map_keys(%1$s) and map_values(%1$s)".formatted(column)
          : "take " + json(column, type);
    } else if (type instanceof NullType) {
      return "all its values are null: " + out;
    } else if (type instanceof ArrayType array) {
      return ofArray(column, array, out);
    }
    String interval = ofInterval(column, type);
    if (interval != null) {
      return interval;
    }
    // Types that the oldest supported Spark release lacks are recognized by name.
    if (isShape(type)) {
      return "take st_asbinary(%s)".formatted(column);
    }
    return type.typeName().equals("variant")
        ? "take to_json(%s)".formatted(column)
        : "cast it, as in cast(%s as string), or %s".formatted(column, out);
  }

  private static String ofDecimal(String column, DecimalType type) {
    String asDouble = "cast(%s as double)".formatted(column);
    if (type.precision() <= DOUBLE_DIGITS) {
      return "cast it: " + asDouble;
    } else if (type.precision() <= LONG_DIGITS) {
      String whole = type.scale() == 0 ? column : "%s * 1%s".formatted(column, zeros(type.scale()));
      return "cast it: cast(%s as bigint) keeps all digits, %s rounds to %d"
          .formatted(whole, asDouble, DOUBLE_DIGITS);
    }
    return "cast it: cast(%1$s as string) keeps all digits, %2$s rounds to %3$d, and cast(%1$s as bigint) is for whole numbers of at most 18 digits, others may overflow"
        .formatted(column, asDouble, DOUBLE_DIGITS);
  }

  private static String zeros(int count) {
    return "0".repeat(count);
  }

  private static String ofInterval(String column, DataType type) {
    if (type instanceof DayTimeIntervalType interval) {
      return interval.startField() == interval.endField()
          ? "cast it: cast(%s as bigint)".formatted(column)
          : "cast it: cast(cast(%s as interval second) as bigint) gives whole seconds"
              .formatted(column);
    } else if (type instanceof YearMonthIntervalType interval) {
      return interval.startField() == interval.endField()
          ? "cast it: cast(%s as bigint)".formatted(column)
          : "cast it: cast(cast(%s as interval month) as bigint) gives months".formatted(column);
    }
    return type instanceof CalendarIntervalType
        ? "cast it: cast(%s as string)".formatted(column)
        : null;
  }

  private static String ofArray(String column, ArrayType array, String out) {
    DataType element = array.elementType();
    if (innermost(array) instanceof DecimalType) {
      return "cast it: cast(%s as %s) rounds to %d digits"
          .formatted(
              column,
              array.catalogString().replaceFirst("decimal\\(\\d+,\\d+\\)", "double"),
              DOUBLE_DIGITS);
    } else if (element instanceof NullType) {
      return "all its elements are null: " + out;
    } else if (element instanceof StringType) {
      return "explode the rows by explode(%1$s), or take to_json(%1$s)".formatted(column);
    }
    return "take " + json(column, array);
  }

  private static String json(String value, DataType type) {
    return "to_json(%s)".formatted(hasShapes(type) ? withoutShapes(value, type, 1) : value);
  }

  private static boolean isShape(DataType type) {
    return SHAPE.matcher(type.typeName()).lookingAt();
  }

  /** Returns whether a type contains geometries, which JSON does not have. */
  private static boolean hasShapes(DataType type) {
    if (type instanceof ArrayType array) {
      return hasShapes(array.elementType());
    } else if (type instanceof MapType map) {
      return hasShapes(map.valueType());
    } else if (type instanceof StructType struct) {
      return Arrays.stream(struct.fields()).anyMatch(field -> hasShapes(field.dataType()));
    }
    return isShape(type);
  }

  /**
   * Returns the expression of a value with binary in place of geometries.
   *
   * @param level number of the next variable
   */
  private static String withoutShapes(String value, DataType type, int level) {
    if (!hasShapes(type)) {
      return value;
    } else if (type instanceof ArrayType array) {
      String element = "e" + level;
      return "transform(%s, %s -> %s)"
          .formatted(value, element, withoutShapes(element, array.elementType(), level + 1));
    } else if (type instanceof MapType map) {
      String inner = "v" + level;
      return "transform_values(%s, (k%d, %s) -> %s)"
          .formatted(value, level, inner, withoutShapes(inner, map.valueType(), level + 1));
    } else if (type instanceof StructType struct) {
      return Arrays.stream(struct.fields())
          .map(
              field ->
                  "'%s', %s"
                      .formatted(
                          field.name().replace("\\", "\\\\").replace("'", "\\'"),
                          withoutShapes(
                              value + "." + ColumnPath.quoted(field.name()),
                              field.dataType(),
                              level)))
          .collect(Collectors.joining(", ", "named_struct(", ")"));
    }
    return "st_asbinary(%s)".formatted(value);
  }

  private static boolean isNumber(DataType type) {
    return NumberType.of(type).isPresent();
  }
}
