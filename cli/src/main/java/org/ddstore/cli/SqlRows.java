// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.apache.spark.sql.Row;
import org.ddstore.types.DType;
import scala.collection.Iterator;

/** A hasher of rows as returned by Spark SQL: boxed numbers, sequences, byte arrays. */
final class SqlRows {
  /** Element count of a null, which no row of a store has because stores reject nulls. */
  private static final int NULL = -1;

  private static final int VECTOR_TYPE = 0;
  private static final int VECTOR_SIZE = 1;
  private static final int VECTOR_INDICES = 2;
  private static final int VECTOR_VALUES = 3;

  private final List<Leaf> leaves;
  private final RowHash hash = new RowHash();
  private boolean nullFound;

  SqlRows(List<Leaf> leaves) {
    this.leaves = leaves;
  }

  /**
   * Returns the hash of a row.
   *
   * @param row row whose first columns are those of the leaves, in order
   */
  byte[] hash(Row row) {
    for (int i = 0; i < leaves.size(); i++) {
      int start = hash.beginColumn();
      nullFound = false;
      int elements = add(leaves.get(i), row.get(i));
      hash.endColumn(start, nullFound ? NULL : elements);
    }
    byte[] result = new byte[RowHash.BYTES];
    hash.finish(result, 0);
    return result;
  }

  private int add(Leaf leaf, Object value) {
    if (value instanceof Row vector) {
      return addVector(vector);
    } else if (value instanceof byte[] bytes) {
      hash.room(bytes.length).put(bytes);
      return leaf.dtype() == null ? bytes.length : bytes.length / leaf.dtype().bytes();
    }
    return addNumbers(leaf.dtype(), value);
  }

  private int addNumbers(DType dtype, Object value) {
    if (value instanceof scala.collection.Iterable<?> many) {
      int elements = 0;
      Iterator<?> each = many.iterator();
      while (each.hasNext()) {
        elements += addNumbers(dtype, each.next());
      }
      return elements;
    } else if (value == null) {
      nullFound = true;
      return 0;
    }
    ByteBuffer to = hash.room(Long.BYTES);
    switch (dtype) {
      case FLOAT32 -> to.putInt(Float.floatToRawIntBits(narrow(value)));
      case FLOAT64 -> to.putLong(Double.doubleToRawLongBits(((Number) value).doubleValue()));
      case BOOL, INT8, UINT8 -> to.put((byte) whole(value));
      case INT16, FLOAT16, BFLOAT16 -> to.putShort((short) whole(value));
      case INT32 -> to.putInt((int) whole(value));
      case INT64 -> to.putLong(whole(value));
    }
    return 1;
  }

  private static float narrow(Object value) {
    return value instanceof Double || value instanceof BigDecimal
        ? (float) ((Number) value).doubleValue()
        : ((Number) value).floatValue();
  }

  private static long whole(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal.unscaledValue().longValueExact();
    } else if (value instanceof Number number) {
      return number.longValue();
    } else if (value instanceof Boolean truth) {
      return truth ? 1 : 0;
    } else if (value instanceof LocalDate date) {
      return date.toEpochDay();
    } else if (value instanceof Date date) {
      return date.toLocalDate().toEpochDay();
    } else if (value instanceof Instant instant) {
      return micros(instant);
    } else if (value instanceof Timestamp timestamp) {
      return micros(timestamp.toInstant());
    } else if (value instanceof LocalDateTime local) {
      return micros(local.toInstant(ZoneOffset.UTC));
    }
    throw new IllegalArgumentException("not a number: " + value.getClass().getName());
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  /** Adds the size, then index and value of each nonzero entry. */
  private int addVector(Row vector) {
    boolean isDense = vector.getByte(VECTOR_TYPE) != 0;
    List<Double> values = vector.getList(VECTOR_VALUES);
    List<Integer> indices = isDense ? null : vector.getList(VECTOR_INDICES);
    RowHash.VectorEntries entries =
        new RowHash.VectorEntries(hash, isDense ? values.size() : vector.getInt(VECTOR_SIZE));
    for (int i = 0; i < values.size(); i++) {
      entries.add(isDense ? i : indices.get(i), values.get(i));
    }
    return entries.count();
  }
}
