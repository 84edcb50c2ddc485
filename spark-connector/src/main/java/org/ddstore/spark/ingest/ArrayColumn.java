// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column of arrays of numbers, nested to any depth. */
final class ArrayColumn extends Column {
  private static final long serialVersionUID = 1L;

  /** The SQL type: elements, nesting depth, and nullability. */
  record Elements(NumberSource numbers, int depth, boolean mayBeNull) implements Serializable {}

  private final Elements elements;

  /** Declared field; null if the form is derived from the data. */
  private final DeclaredField declared;

  private final Repairs repairs;
  private final int uniformLength;

  /** Creates a column; ragged by default if {@code declared} is null. */
  ArrayColumn(ColumnPath path, Elements elements, DeclaredField declared, Repairs repairs) {
    this(path, elements, declared, repairs, 0);
  }

  private ArrayColumn(
      ColumnPath path,
      Elements elements,
      DeclaredField declared,
      Repairs repairs,
      int uniformLength) {
    super(path);
    this.elements = elements;
    this.declared = declared;
    this.repairs = repairs;
    this.uniformLength = uniformLength;
  }

  @Override
  List<Field> fields() {
    return List.of(field());
  }

  private Field field() {
    if (declared != null) {
      return declared.field(name());
    }
    DType dtype = elements.numbers.natural();
    return uniformLength == 0
        ? Field.ragged(name(), dtype)
        : Field.fixed(name(), dtype, uniformLength);
  }

  @Override
  Column at(ColumnPath path) {
    return new ArrayColumn(path, elements, declared, repairs, uniformLength);
  }

  @Override
  boolean isOpen() {
    return declared == null;
  }

  @Override
  Column in(ArrayForm form, int length) {
    if (declared != null || form == ArrayForm.SPARSE) {
      return super.in(form, length);
    }
    return new ArrayColumn(path(), elements, null, repairs, form == ArrayForm.UNIFORM ? length : 0);
  }

  @Override
  int observe(SpecializedGetters parent, int ordinal) {
    return parent.getArray(ordinal).numElements();
  }

  @Override
  int observedBytes() {
    Field field = field();
    if (!field.isRagged()) {
      return 0;
    }
    return elements.depth == 1 ? field.dtype().bytes() : field.bytes();
  }

  @Override
  BlockPacker.Place packed(Schema schema) {
    return elements.depth == 1 ? BlockPacker.Place.of(path(), schema) : null;
  }

  @Override
  Column.Encoder encoder(Schema schema) {
    return new ArrayEncoder(path(), schema, elements, repairs, declared == null);
  }
}
