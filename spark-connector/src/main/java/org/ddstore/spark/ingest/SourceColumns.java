// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.types.Field;

/**
 * The columns of a DataFrame that a load uses, with their DataFrame types.
 *
 * @param schema schema of the DataFrame
 */
record SourceColumns(StructType schema, List<Column> columns) {

  List<ColumnMapping> mappings() {
    return columns.stream()
        .map(
            column ->
                new ColumnMapping(
                    column.path().names(),
                    typeOf(column.path().names()),
                    column.fields().stream().map(Field::name).toList()))
        .toList();
  }

  private DataType typeOf(List<String> names) {
    DataType type = schema;
    for (String name : names) {
      type = structOf(type).apply(name).dataType();
    }
    return type;
  }

  /** Returns the schema of these columns, in order; structs contain only loaded fields. */
  StructType prunedSchema() {
    return prunedSchema(schema, columns.stream().map(column -> column.path().names()).toList());
  }

  private static StructType prunedSchema(StructType whole, List<List<String>> paths) {
    Map<String, List<List<String>>> inside = new LinkedHashMap<>();
    for (List<String> path : paths) {
      List<List<String>> rest = inside.computeIfAbsent(path.get(0), name -> new ArrayList<>());
      if (path.size() > 1) {
        rest.add(path.subList(1, path.size()));
      }
    }
    List<StructField> fields = new ArrayList<>();
    inside.forEach((name, rest) -> fields.add(prunedSchema(whole.apply(name), rest)));
    return new StructType(fields.toArray(new StructField[0]));
  }

  private static StructField prunedSchema(StructField field, List<List<String>> rest) {
    if (rest.isEmpty()) {
      return field;
    }
    StructType whole = structOf(field.dataType());
    StructType part = prunedSchema(whole, rest);
    return part.equals(whole)
        ? field // keeps a user-defined type
        : new StructField(field.name(), part, field.nullable(), field.metadata());
  }

  private static StructType structOf(DataType type) {
    return (StructType)
        (type instanceof UserDefinedType<?> userDefined ? userDefined.sqlType() : type);
  }
}
