// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;
import org.ddstore.types.Schema;

/** An encoder of Spark ML vectors in one of their forms. */
final class VectorEncoder extends Column.Encoder {
  private final ArrayForm form;
  private final ElementWriter indices =
      new ElementWriter(this, new NumberSource(NumberType.INT, 0, 0), DType.INT32, true, null);
  private final ElementWriter values =
      new ElementWriter(this, new NumberSource(NumberType.DOUBLE, 0, 0), DType.FLOAT64, true, null);

  /** Offset in the record of the values of a uniform vector, or of their number. */
  private final int valuesPlace;

  private final int uniformLength;
  private final int sizePlace;
  private final int indicesPlace;

  VectorEncoder(ColumnPath path, Schema schema, ArrayForm form) {
    super(path);
    this.form = form;
    String prefix = path.name() + (form == ArrayForm.SPARSE ? ".values" : "");
    int index = schema.indexOf(prefix);
    boolean sparse = form == ArrayForm.SPARSE;
    boolean uniform = form == ArrayForm.UNIFORM;
    valuesPlace = uniform ? schema.fixedOffset(index) : schema.lengthOffset(index);
    uniformLength = uniform ? schema.field(index).elements() : 0;
    sizePlace = sparse ? schema.fixedOffset(schema.indexOf(path.name() + ".size")) : -1;
    indicesPlace = sparse ? schema.lengthOffset(schema.indexOf(path.name() + ".indices")) : -1;
  }

  @Override
  void encodeValue(SpecializedGetters parent, int at, RecordBuffer record) {
    InternalRow vector = parent.getStruct(at, VectorColumn.SQL_FIELDS);
    boolean sparse = VectorColumn.isSparse(vector);
    if (sparse && form != ArrayForm.SPARSE) {
      throw new NotUniformException(name(), record.row(), ArrayForm.SPARSE, "a sparse vector");
    }
    if (isIncomplete(vector, sparse)) {
      throw problem(record, "a vector without size, indices or values");
    }
    ArrayData dense = vector.getArray(VectorColumn.SQL_VALUES);
    switch (form) {
      case UNIFORM -> encodeUniform(dense, record);
      case RAGGED -> append(values, dense, valuesPlace, DType.FLOAT64, record);
      case SPARSE -> {
        if (sparse) {
          encodeSparse(vector, dense, record);
        } else {
          encodeFull(dense, record);
        }
      }
    }
  }

  private static boolean isIncomplete(InternalRow vector, boolean sparse) {
    if (vector.isNullAt(VectorColumn.SQL_VALUES)) {
      return true;
    }
    return sparse
        && (vector.isNullAt(VectorColumn.SQL_INDICES) || vector.isNullAt(VectorColumn.SQL_SIZE));
  }

  private void encodeUniform(ArrayData dense, RecordBuffer record) {
    int found = dense.numElements();
    if (found != uniformLength) {
      throw new NotUniformException(
          name(),
          record.row(),
          ArrayForm.RAGGED,
          "a vector of size %,d where other rows have %,d".formatted(found, uniformLength));
    }
    values.write(dense, found, record, valuesPlace);
  }

  private void encodeSparse(InternalRow vector, ArrayData data, RecordBuffer record) {
    ArrayData places = vector.getArray(VectorColumn.SQL_INDICES);
    if (places.numElements() != data.numElements()) {
      throw problem(
          record,
          "a sparse vector of %,d indices and %,d values"
              .formatted(places.numElements(), data.numElements()));
    }
    record.view().putInt(sizePlace, vector.getInt(VectorColumn.SQL_SIZE));
    append(indices, places, indicesPlace, DType.INT32, record);
    append(values, data, valuesPlace, DType.FLOAT64, record);
  }

  private void encodeFull(ArrayData dense, RecordBuffer record) {
    int size = dense.numElements();
    record.view().putInt(sizePlace, size);
    int start = record.append(name(), (long) size * Integer.BYTES);
    record.view().putInt(indicesPlace, size);
    for (int i = 0; i < size; i++) {
      record.view().putInt(start + i * Integer.BYTES, i);
    }
    append(values, dense, valuesPlace, DType.FLOAT64, record);
  }

  private void append(
      ElementWriter writer, ArrayData array, int lengthPlace, DType dtype, RecordBuffer record) {
    int count = array.numElements();
    int start = record.append(name(), (long) count * dtype.bytes());
    record.view().putInt(lengthPlace, count);
    writer.write(array, count, record, start);
  }

  @Override
  IngestException nullElementProblem(RecordBuffer record) {
    return problem(record, "null element; filter the rows, because vectors have no fill value");
  }

  @Override
  void encodeNull(RecordBuffer record) {
    throw problem(record, "null; filter the rows, because vectors have no fill value");
  }
}
