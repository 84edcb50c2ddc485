// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The mapping of a DataFrame column from the fields in which it is stored.
 *
 * @param fields indices of the required fields in the schema
 * @param vector function that creates the column of a batch
 */
record ReadColumn(List<Integer> fields, Function<FieldPlaces, ColumnVector> vector) {
  private static final byte DENSE = 1;
  private static final byte SPARSE = 0;

  /**
   * Returns the column at a path of names such as {@code a.b}.
   *
   * @param type requested type, which can have a subset of a struct's fields
   * @param source type of the whole column in the DataFrame
   */
  static ReadColumn of(String path, DataType type, DataType source, Schema schema) {
    if (source instanceof UserDefinedType<?> userDefined) {
      return of(path, userDefined.sqlType(), userDefined.sqlType(), schema);
    } else if (source instanceof StructType struct) {
      return isVector(struct)
          ? vector(path, (StructType) type, struct, schema)
          : struct(path, (StructType) type, struct, schema);
    }
    int index = schema.indexOf(path);
    Field field = schema.field(index);
    List<Integer> fields = List.of(index);
    if (type instanceof StringType || type instanceof BinaryType) {
      return new ReadColumn(
          fields,
          places ->
              field.isRagged()
                  ? new BytesVector(
                      type, places.ragged(index), places.counts(index), 0, places.lasting())
                  : new BytesVector(
                      type, places.fixed(index), null, field.bytes(), places.lasting()));
    } else if (type instanceof ArrayType array) {
      return new ReadColumn(fields, places -> array(array, field, index, places));
    }
    return new ReadColumn(
        fields, places -> Elements.vector(type, field.dtype(), places.fixed(index)));
  }

  private static ColumnVector array(ArrayType type, Field field, int index, FieldPlaces places) {
    boolean flat = !(type.elementType() instanceof ArrayType);
    int[] shape = flat ? new int[] {field.elements()} : field.shape();
    if (!field.isRagged()) {
      return new ArrayVector(type, field.dtype(), places.fixed(index), null, shape);
    }
    int[] counts = places.counts(index);
    if (flat) {
      counts = multiplied(counts, field.elements());
    } else {
      int[] levels = new int[shape.length + 1];
      System.arraycopy(shape, 0, levels, 1, shape.length);
      shape = levels;
    }
    return new ArrayVector(type, field.dtype(), places.ragged(index), counts, shape);
  }

  private static int[] multiplied(int[] counts, int factor) {
    if (factor == 1) {
      return counts;
    }
    int[] products = new int[counts.length];
    for (int i = 0; i < products.length; i++) {
      products[i] = Math.multiplyExact(counts[i], factor);
    }
    return products;
  }

  private static ReadColumn struct(String path, StructType type, StructType source, Schema schema) {
    List<ReadColumn> parts = new ArrayList<>();
    for (StructField part : type.fields()) {
      DataType whole = source.apply(part.name()).dataType();
      parts.add(of(path + "." + part.name(), part.dataType(), whole, schema));
    }
    return together(type, parts);
  }

  private static ReadColumn together(StructType type, List<ReadColumn> parts) {
    return new ReadColumn(
        parts.stream().flatMap(part -> part.fields().stream()).distinct().toList(),
        places ->
            new StructVector(
                type,
                parts.stream()
                    .map(part -> part.vector().apply(places))
                    .toArray(ColumnVector[]::new)));
  }

  private static boolean isVector(StructType type) {
    return List.of(type.fieldNames()).equals(List.of("type", "size", "indices", "values"))
        && type.apply("type").dataType().equals(DataTypes.ByteType)
        && type.apply("size").dataType().equals(DataTypes.IntegerType)
        && isArrayOf(type.apply("indices").dataType(), DataTypes.IntegerType)
        && isArrayOf(type.apply("values").dataType(), DataTypes.DoubleType);
  }

  private static boolean isArrayOf(DataType type, DataType element) {
    return type instanceof ArrayType array && array.elementType().equals(element);
  }

  private static ReadColumn vector(String path, StructType type, StructType source, Schema schema) {
    boolean dense = schema.fields().stream().anyMatch(field -> field.name().equals(path));
    List<ReadColumn> parts = new ArrayList<>();
    for (StructField part : type.fields()) {
      DataType partType = source.apply(part.name()).dataType();
      parts.add(
          switch (part.name()) {
            case "type" -> constant(partType, dense ? DENSE : SPARSE);
            case "values" -> of(dense ? path : path + ".values", partType, partType, schema);
            default ->
                dense
                    ? constant(partType, null)
                    : of(path + "." + part.name(), partType, partType, schema);
          });
    }
    return together(type, parts);
  }

  private static ReadColumn constant(DataType type, Byte value) {
    return new ReadColumn(List.of(), places -> new ConstantVector(type, value));
  }
}
