// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Arrays;
import java.util.function.LongFunction;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.Field;

/** A reader of one field in consecutive rows, in batches of bounded memory. */
record ColumnReader(Variable variable, Field field) {
  private static final int BATCH_ROWS = 8192;
  private static final long BATCH_BYTES = 16 << 20;

  interface Receiver {
    /**
     * Takes a batch, which is valid during the call.
     *
     * @param first row of the store that is row 0 of the batch
     */
    void accept(Batch batch, long first);
  }

  /** Reads rows [first, end). */
  void read(long first, long end, Receiver receiver) {
    try (Reader reader = variable.reader(field.name());
        Batch batch = reader.getBatch()) {
      long[] rows = new long[BATCH_ROWS];
      long row = first;
      while (row < end) {
        int count = (int) Math.min(BATCH_ROWS, end - row);
        for (int i = 0; i < count; i++) {
          rows[i] = row + i;
        }
        long[] wanted = count == BATCH_ROWS ? rows : Arrays.copyOf(rows, count);
        int read = reader.getBatchWithin(batch, BATCH_BYTES, wanted);
        receiver.accept(batch, row);
        row += read;
      }
    }
  }

  /** Returns the values of a batch of scalars, as numbers by position. */
  DoubleColumn numbers(Batch batch) {
    Tensor values = batch.field(field.name());
    return switch (field.dtype()) {
      case FLOAT64 -> values::getDouble;
      case FLOAT32 -> values::getFloat;
      case FLOAT16 -> {
        short[] halves = values.toShortArray();
        yield i -> ofHalf(halves[(int) i]);
      }
      case BFLOAT16 -> {
        short[] halves = values.toShortArray();
        yield i -> Float.intBitsToFloat(halves[(int) i] << Short.SIZE);
      }
      default -> values::getLong;
    };
  }

  static float ofHalf(short bits) {
    int exponent = (bits >>> 10) & 31;
    int fraction = bits & 1023;
    float size =
        switch (exponent) {
          case 0 -> fraction * 0x1p-24f;
          case 31 -> fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
          default -> Float.intBitsToFloat(((exponent + 112) << 23) | (fraction << 13));
        };
    return bits < 0 ? -size : size;
  }

  LongColumn integers(Batch batch) {
    return batch.field(field.name())::getLong;
  }

  LongColumn lengths(Batch batch) {
    Tensor offsets = batch.offsets(field.name());
    return i -> offsets.getLong(i + 1) - offsets.getLong(i);
  }

  LongFunction<String> texts(Batch batch) {
    return i -> batch.string(field.name(), (int) i);
  }

  interface DoubleColumn {
    double at(long i);
  }

  interface LongColumn {
    long at(long i);
  }
}
