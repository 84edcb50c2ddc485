// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;

/** The columns of a DataFrame to which options can refer, by path, with their types. */
public final class LeafTypes {
  private LeafTypes() {}

  /**
   * Returns the types of the columns in their order. A struct stands for its columns, {@code a.b};
   * an ML vector is one column. User-defined types appear as their SQL types.
   */
  public static Map<String, DataType> of(StructType schema) {
    Map<String, DataType> types = new LinkedHashMap<>();
    add("", schema, types);
    return types;
  }

  /** Returns a column by its plain name, such as {@code a.b}; else by its name in SQL. */
  public static org.apache.spark.sql.Column column(StructType schema, String name) {
    return functions.col(path(schema, name).orElse(name));
  }

  private static Optional<String> path(StructType schema, String name) {
    for (StructField field : schema.fields()) {
      if (field.name().equals(name)) {
        return Optional.of(ColumnPath.quoted(name));
      }
    }
    for (StructField field : schema.fields()) {
      if (field.dataType() instanceof StructType inner && name.startsWith(field.name() + ".")) {
        Optional<String> rest = path(inner, name.substring(field.name().length() + 1));
        if (rest.isPresent()) {
          return Optional.of(ColumnPath.quoted(field.name()) + "." + rest.get());
        }
      }
    }
    return Optional.empty();
  }

  private static void add(String prefix, StructType struct, Map<String, DataType> types) {
    for (StructField field : struct.fields()) {
      DataType type = field.dataType();
      while (type instanceof UserDefinedType<?> userDefined) {
        type = userDefined.sqlType();
      }
      if (type instanceof StructType inner && !VectorColumn.isVector(inner)) {
        add(prefix + field.name() + ".", inner, types);
      } else {
        types.put(prefix + field.name(), type);
      }
    }
  }
}
