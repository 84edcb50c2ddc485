// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The function of a user as a UDF of Spark, with checks whose errors name the file. */
record RecordFunction(FileFunction function, StructType schema)
    implements UDF2<String, byte[], Row> {
  private static final long serialVersionUID = 1L;

  /** The Java types of the SQL types that have only one. */
  private static final Map<DataType, Class<?>> JAVA_TYPES =
      Map.of(
          DataTypes.BooleanType, Boolean.class,
          DataTypes.ByteType, Byte.class,
          DataTypes.ShortType, Short.class,
          DataTypes.IntegerType, Integer.class,
          DataTypes.LongType, Long.class,
          DataTypes.FloatType, Float.class,
          DataTypes.DoubleType, Double.class,
          DataTypes.StringType, String.class,
          DataTypes.BinaryType, byte[].class);

  @Override
  @SuppressWarnings("IllegalCatch") // the code of a user may throw anything
  public Row call(String path, byte[] bytes) {
    Row record;
    try {
      record = function.call(path, bytes);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FormatException(path, "the function was interrupted", e);
    } catch (Exception e) {
      throw new FormatException(path, "the function failed: " + e, e);
    }
    check(path, record);
    return record;
  }

  private void check(String path, Row record) {
    if (record == null) {
      throw new FormatException(
          path, "the function returned null: return a record, or leave the file out of the paths");
    }
    if (record.size() != schema.size()) {
      throw new FormatException(
          path,
          "the function returned %d values, but the schema has %d columns: %s"
              .formatted(record.size(), schema.size(), List.of(schema.fieldNames())));
    }
    for (int i = 0; i < schema.size(); i++) {
      StructField field = schema.fields()[i];
      Object value = record.get(i);
      if (value == null && !field.nullable()) {
        throw FormatException.of(
            path,
            "column " + field.name(),
            "the function returned null, but the column is not nullable");
      }
      Class<?> type = JAVA_TYPES.get(field.dataType());
      if (value != null && type != null && !type.isInstance(value)) {
        throw FormatException.of(
            path,
            "column " + field.name(),
            "the function returned %s, but %s needs %s"
                .formatted(
                    value.getClass().getSimpleName(),
                    field.dataType().sql(),
                    type.getSimpleName()));
      }
    }
  }
}
