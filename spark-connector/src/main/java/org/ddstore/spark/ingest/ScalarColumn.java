// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column of one number per row. */
final class ScalarColumn extends Column {
  private static final long serialVersionUID = 1L;

  private final NumberSource numbers;
  private final DeclaredField declared;
  private final Serializable fill;

  /**
   * @param fill replacement of nulls as it is stored, or null
   */
  ScalarColumn(ColumnPath path, NumberSource numbers, DeclaredField declared, Serializable fill) {
    super(path);
    this.numbers = numbers;
    this.declared = declared;
    this.fill = fill;
  }

  @Override
  List<Field> fields() {
    return List.of(declared.field(name()));
  }

  @Override
  Column at(ColumnPath path) {
    return new ScalarColumn(path, numbers, declared, fill);
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
    private final NumberStore store = new NumberStore(declared.dtype());

    Encoder(Schema schema) {
      super(path());
      this.place = schema.fixedOffset(schema.indexOf(ScalarColumn.this.name()));
    }

    @Override
    void encodeValue(SpecializedGetters parent, int at, RecordBuffer record) {
      if (numbers.type().isFloating()) {
        double value = numbers.getDouble(parent, at);
        if (!store.put(record.view(), place, value)) {
          throw outside(record, value);
        }
      } else {
        long value = numbers.getLong(parent, at);
        if (!store.put(record.view(), place, value)) {
          throw outside(record, value);
        }
      }
    }

    private IngestException outside(RecordBuffer record, Object value) {
      return problem(record, "%s is outside %s of %s".formatted(value, store.range(), fields()));
    }

    @Override
    void encodeNull(RecordBuffer record) {
      if (fill == null) {
        throw nullProblem(record);
      }
      if (!store.putValue(record.view(), place, fill)) {
        throw outside(record, fill);
      }
    }
  }
}
