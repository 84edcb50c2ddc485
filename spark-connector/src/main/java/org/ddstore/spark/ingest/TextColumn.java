// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column of text or binary values of any length. */
final class TextColumn extends Column {
  private static final long serialVersionUID = 1L;

  private final boolean text;
  private final byte[] fill;

  /**
   * @param text true for a string column, false for a binary one
   * @param fill replacement of nulls, or null
   */
  TextColumn(ColumnPath path, boolean text, Serializable fill) {
    this(path, text, fill instanceof String string ? string.getBytes(UTF_8) : (byte[]) fill);
  }

  private TextColumn(ColumnPath path, boolean text, byte... fill) {
    super(path);
    this.text = text;
    this.fill = fill;
  }

  @Override
  List<Field> fields() {
    return List.of(text ? Field.string(name()) : Field.bytes(name()));
  }

  @Override
  Column at(ColumnPath path) {
    return new TextColumn(path, text, fill);
  }

  @Override
  int observe(SpecializedGetters parent, int ordinal) {
    return text ? parent.getUTF8String(ordinal).numBytes() : parent.getBinary(ordinal).length;
  }

  @Override
  int observedBytes() {
    return 1;
  }

  @Override
  Column.Encoder encoder(Schema schema) {
    return new Encoder(schema);
  }

  private final class Encoder extends Column.Encoder {
    private final int lengthPlace;

    Encoder(Schema schema) {
      super(path());
      this.lengthPlace = schema.lengthOffset(schema.indexOf(TextColumn.this.name()));
    }

    @Override
    void encodeValue(SpecializedGetters parent, int at, RecordBuffer record) {
      if (text) {
        UTF8String value = parent.getUTF8String(at);
        int place = reserve(record, value.numBytes());
        value.writeToMemory(record.bytes(), Platform.BYTE_ARRAY_OFFSET + (long) place);
      } else {
        put(record, parent.getBinary(at));
      }
    }

    private int reserve(RecordBuffer record, int length) {
      int place = record.append(name(), length);
      record.view().putInt(lengthPlace, length);
      return place;
    }

    private void put(RecordBuffer record, byte... value) {
      int place = reserve(record, value.length);
      System.arraycopy(value, 0, record.bytes(), place, value.length);
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
