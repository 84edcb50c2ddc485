// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.Batch;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * The rows of a batch as JSON values: arrays as lists nested by the field's shape, text as strings,
 * bytes as base64, booleans as booleans, everything else as numbers. NaN, Infinity and -Infinity,
 * which JSON numbers cannot express, are strings. Dates and timestamps are the stored integers:
 * days and microseconds since 1970-01-01 UTC.
 */
final class RecordValues {
  private static final int HALF_EXPONENT_BITS = 5;
  private static final int HALF_FRACTION_BITS = 10;

  private final Batch batch;

  RecordValues(Batch batch) {
    this.batch = batch;
  }

  /** Returns the fields of a row in schema order, as serializable values. */
  Map<String, Object> record(int row) {
    Map<String, Object> record = new LinkedHashMap<>();
    for (Field field : batch.schema().fields()) {
      record.put(field.name(), value(field, row));
    }
    return record;
  }

  private Object value(Field field, int row) {
    String name = field.name();
    return switch (field.kind()) {
      case STRING -> batch.string(name, row);
      case BYTES -> Base64.getEncoder().encodeToString(batch.bytes(name, row));
      case FIXED -> {
        int start = row * field.bytes();
        yield nested(field.dtype(), values(name), start, field.shape(), 0);
      }
      case RAGGED -> {
        long first = batch.offsets(name).getLong(row);
        long end = batch.offsets(name).getLong(row + 1L);
        ByteBuffer values = values(name);
        List<Object> list = new ArrayList<>();
        for (long i = first; i < end; i++) {
          list.add(
              nested(field.dtype(), values, Math.toIntExact(i * field.bytes()), field.shape(), 0));
        }
        yield list;
      }
    };
  }

  private ByteBuffer values(String name) {
    return batch.field(name).asByteBuffer().duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  private static Object nested(
      DType dtype, ByteBuffer values, int start, int[] shape, int dimension) {
    if (dimension == shape.length) {
      return number(dtype, values, start);
    }
    int step = dtype.bytes();
    for (int d = dimension + 1; d < shape.length; d++) {
      step *= shape[d];
    }
    List<Object> list = new ArrayList<>(shape[dimension]);
    for (int i = 0; i < shape[dimension]; i++) {
      list.add(nested(dtype, values, start + i * step, shape, dimension + 1));
    }
    return list;
  }

  private static Object number(DType dtype, ByteBuffer values, int at) {
    return switch (dtype) {
      case BOOL -> values.get(at) != 0;
      case INT8 -> values.get(at);
      case UINT8 -> values.get(at) & 0xFF;
      case INT16 -> values.getShort(at);
      case INT32 -> values.getInt(at);
      case INT64 -> values.getLong(at);
      case FLOAT16 -> finite(half(values.getShort(at)));
      case BFLOAT16 -> finite(Float.intBitsToFloat(values.getShort(at) << Short.SIZE));
      case FLOAT32 -> finite(values.getFloat(at));
      case FLOAT64 -> {
        double value = values.getDouble(at);
        yield Double.isFinite(value) ? (Object) value : Double.toString(value);
      }
    };
  }

  private static Object finite(float value) {
    return Float.isFinite(value) ? (Object) value : Float.toString(value);
  }

  /** Converts IEEE 754 binary16, which the JDK supports only since version 20. */
  private static float half(short bits) {
    int fraction = bits & ((1 << HALF_FRACTION_BITS) - 1);
    int exponent = (bits >> HALF_FRACTION_BITS) & ((1 << HALF_EXPONENT_BITS) - 1);
    float magnitude;
    if (exponent == 0) {
      magnitude = Math.scalb((float) fraction, -24);
    } else if (exponent == (1 << HALF_EXPONENT_BITS) - 1) {
      magnitude = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
    } else {
      magnitude = Math.scalb((float) (fraction + (1 << HALF_FRACTION_BITS)), exponent - 25);
    }
    return bits < 0 ? -magnitude : magnitude;
  }
}
