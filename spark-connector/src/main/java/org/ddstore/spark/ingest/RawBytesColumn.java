// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A binary column with the little-endian elements of a declared fixed shape. */
final class RawBytesColumn extends Column {
  private static final long serialVersionUID = 1L;

  private final DeclaredField declared;
  private final byte[] fill;

  /**
   * @param fill replacement of nulls, or null
   */
  RawBytesColumn(ColumnPath path, DeclaredField declared, byte... fill) {
    super(path);
    this.declared = declared;
    this.fill = fill;
  }

  @Override
  List<Field> fields() {
    return List.of(declared.field(name()));
  }

  @Override
  Column at(ColumnPath path) {
    return new RawBytesColumn(path, declared, fill);
  }

  @Override
  BlockPacker.Place packed(Schema schema) {
    return BlockPacker.Place.of(path(), schema);
  }

  @Override
  Column.Encoder encoder(Schema schema) {
    return new Encoder(schema);
  }

  private final class Encoder extends Column.Encoder {
    private final int place;
    private final int length;

    Encoder(Schema schema) {
      super(path());
      Field field = schema.field(RawBytesColumn.this.name());
      this.place = schema.fixedOffset(schema.indexOf(field.name()));
      this.length = field.bytes();
    }

    @Override
    void encodeValue(SpecializedGetters parent, int at, RecordBuffer record) {
      put(record, parent.getBinary(at));
    }

    private void put(RecordBuffer record, byte... value) {
      if (value.length != length) {
        throw problem(
            record, "%,d bytes, but %s has %,d".formatted(value.length, fields(), length));
      }
      System.arraycopy(value, 0, record.bytes(), place, length);
    }

    @Override
    void encodeNull(RecordBuffer record) {
      if (fill == null) {
        throw nullProblem(record);
      }
      put(record, fill);
    }
  }
}
