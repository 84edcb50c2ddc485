// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * A column of Spark ML vectors in their SQL form, independent of the declaring library. Dense
 * vectors of one size are stored as a fixed field, of several sizes as a ragged field; if any row
 * is sparse, all rows are stored as {@code size}, {@code indices} and {@code values}.
 */
final class VectorColumn extends Column {
  private static final long serialVersionUID = 1L;

  static final int SQL_FIELDS = 4;
  static final int SQL_TYPE = 0;
  static final int SQL_SIZE = 1;
  static final int SQL_INDICES = 2;
  static final int SQL_VALUES = 3;

  private static final byte SPARSE_TYPE = 0;

  private final ArrayForm form;
  private final int uniformLength;

  VectorColumn(ColumnPath path, ArrayForm form, int uniformLength) {
    super(path);
    this.form = form;
    this.uniformLength = uniformLength;
  }

  /** Tests for {@code struct<type tinyint, size int, indices array<int>, values array<double>>}. */
  static boolean isVector(StructType type) {
    return type.size() == SQL_FIELDS
        && is(type, SQL_TYPE, "type", DataTypes.ByteType)
        && is(type, SQL_SIZE, "size", DataTypes.IntegerType)
        && isArray(type, SQL_INDICES, "indices", DataTypes.IntegerType)
        && isArray(type, SQL_VALUES, "values", DataTypes.DoubleType);
  }

  private static boolean is(StructType type, int i, String name, DataType dataType) {
    return type.fields()[i].name().equals(name) && type.fields()[i].dataType().equals(dataType);
  }

  private static boolean isArray(StructType type, int i, String name, DataType element) {
    return type.fields()[i].name().equals(name)
        && type.fields()[i].dataType() instanceof ArrayType array
        && array.elementType().equals(element);
  }

  static boolean isSparse(InternalRow vector) {
    return vector.getByte(SQL_TYPE) == SPARSE_TYPE;
  }

  @Override
  List<Field> fields() {
    return switch (form) {
      case UNIFORM -> List.of(Field.fixed(name(), DType.FLOAT64, uniformLength));
      case RAGGED -> List.of(Field.ragged(name(), DType.FLOAT64));
      case SPARSE ->
          List.of(
              Field.fixed(name() + ".size", DType.INT32),
              Field.ragged(name() + ".indices", DType.INT32),
              Field.ragged(name() + ".values", DType.FLOAT64));
    };
  }

  @Override
  Column at(ColumnPath path) {
    return new VectorColumn(path, form, uniformLength);
  }

  @Override
  boolean isOpen() {
    return true;
  }

  @Override
  Column in(ArrayForm form, int length) {
    return new VectorColumn(path(), form, form == ArrayForm.UNIFORM ? length : 0);
  }

  @Override
  int observe(SpecializedGetters parent, int ordinal) {
    InternalRow vector = parent.getStruct(ordinal, SQL_FIELDS);
    if (isSparse(vector)) {
      return SPARSE;
    }
    return vector.isNullAt(SQL_VALUES) ? NULL : vector.getArray(SQL_VALUES).numElements();
  }

  @Override
  int observedBytes() {
    return switch (form) {
      case UNIFORM -> 0;
      case RAGGED -> DType.FLOAT64.bytes();
      case SPARSE -> DType.INT32.bytes() + DType.FLOAT64.bytes();
    };
  }

  @Override
  Column.Encoder encoder(Schema schema) {
    return new VectorEncoder(path(), schema, form);
  }
}
