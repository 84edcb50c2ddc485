// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.types.FieldMetadata;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * A column of a data set, or of a struct in it, as seen by the check of the demo. Derived from the
 * schema of Spark SQL, independently of the code that loads stores.
 *
 * @param path names from the outermost struct inwards
 * @param form kind of the values
 * @param dtype type in which numbers are stored; null if the values are not numbers
 * @param sql expression of Spark SQL of the stored values
 */
record Leaf(List<String> path, Form form, DType dtype, String sql) implements Serializable {
  /** The kind of the values of a column. */
  enum Form {
    /** A number, an array of numbers, or nested arrays of numbers. */
    NUMBERS,
    TEXT,
    BYTES,
    /** A vector of Spark ML in its SQL form. */
    VECTOR
  }

  /**
   * Returns the columns that can be stored; a load rejects the others.
   *
   * @param options options of the user
   */
  static List<Leaf> of(StructType schema, SourceOptions options) {
    List<Leaf> leaves = new ArrayList<>();
    for (StructField field : schema.fields()) {
      add(List.of(field.name()), field, options, leaves);
    }
    List<String> fields = options.fields;
    return leaves.stream()
        .filter(leaf -> fields.isEmpty() || fields.stream().anyMatch(leaf::isIn))
        .map(leaf -> leaf.as(options.types))
        .toList();
  }

  private static void add(
      List<String> path, StructField field, SourceOptions options, List<Leaf> leaves) {
    DataType type = field.dataType();
    if (type instanceof StructType struct && !isVector(struct)) {
      for (StructField part : struct.fields()) {
        List<String> inner = new ArrayList<>(path);
        inner.add(part.name());
        add(List.copyOf(inner), part, options, leaves);
      }
      return;
    }
    String name = String.join(".", path);
    String column =
        path.stream()
            .map(part -> "`" + part.replace("`", "``") + "`")
            .collect(Collectors.joining("."));
    if (type instanceof StructType) {
      leaves.add(new Leaf(path, Form.VECTOR, DType.FLOAT64, column));
      return;
    }
    String sql = RepairSql.of(column, name, type, options);
    Optional<Field> declared = FieldMetadata.field(name, field.metadata());
    if (declared.isPresent()) {
      leaves.add(new Leaf(path, Form.NUMBERS, declared.get().dtype(), sql));
    } else if (type instanceof StringType) {
      leaves.add(new Leaf(path, Form.TEXT, null, sql));
    } else if (type instanceof BinaryType) {
      leaves.add(new Leaf(path, Form.BYTES, null, sql));
    } else {
      numbers(type, form(name, options))
          .ifPresent(dtype -> leaves.add(new Leaf(path, Form.NUMBERS, dtype, sql)));
    }
  }

  /** Returns the type in which decimals of a column are stored; null if they are refused. */
  private static DType form(String name, SourceOptions options) {
    String form = ColumnValue.of(name, options.decimals);
    String any = form == null ? ColumnValue.of("", options.decimals) : form;
    return any == null ? null : DType.valueOf(any.strip().toUpperCase(Locale.ROOT));
  }

  private static boolean isVector(StructType type) {
    return type.simpleString()
        .equals("struct<type:tinyint,size:int,indices:array<int>,values:array<double>>");
  }

  private static Optional<DType> numbers(DataType type, DType decimals) {
    if (type instanceof ArrayType array) {
      return numbers(array.elementType(), decimals);
    } else if (type instanceof DecimalType) {
      return Optional.ofNullable(decimals);
    }
    return Optional.ofNullable(
        switch (type.typeName()) {
          case "boolean" -> DType.BOOL;
          case "byte" -> DType.INT8;
          case "short" -> DType.INT16;
          case "integer", "date" -> DType.INT32;
          case "long", "timestamp", "timestamp_ntz" -> DType.INT64;
          case "float" -> DType.FLOAT32;
          case "double" -> DType.FLOAT64;
          default -> null;
        });
  }

  private boolean isIn(String field) {
    return name().equals(field) || name().startsWith(field + ".");
  }

  private Leaf as(List<FieldType> types) {
    return types.stream()
        .filter(type -> type.column().equals(name()))
        .findFirst()
        .map(type -> new Leaf(path, Form.NUMBERS, type.field().dtype(), sql))
        .orElse(this);
  }

  /** Returns the name of the field, as in {@code a.b}. */
  String name() {
    return String.join(".", path);
  }

  /** Returns the column of Spark SQL, with text cast to binary. */
  Column column() {
    Column column = functions.expr(sql);
    return form == Form.TEXT ? column.cast("binary") : column;
  }
}
