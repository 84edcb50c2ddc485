// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * The rows that tests put in and expect: made of a seed and the global index alone, so that every
 * rank knows what every other one brought.
 */
final class Rows {
  private static final int[] COUNTS = {7, 13, 0, 5};

  private Rows() {}

  static int count(int rank) {
    return COUNTS[rank % COUNTS.length];
  }

  static int first(int rank) {
    int rows = 0;
    for (int r = 0; r < rank; r++) {
      rows += count(r);
    }
    return rows;
  }

  static byte[] bytes(DType dtype, long seed, long index, int elements) {
    byte[] bytes = new byte[elements * dtype.bytes()];
    new Random(seed * 31 + index * 1_000_003).nextBytes(bytes);
    if (dtype == DType.BOOL) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] &= 1;
      }
    }
    return bytes;
  }

  static byte[] bytes(DType dtype, long seed, long from, long to, int elements) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (long index = from; index < to; index++) {
      all.writeBytes(bytes(dtype, seed, index, elements));
    }
    return all.toByteArray();
  }

  static byte[] bytesOf(DType dtype, long seed, int elements, long... indices) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (long index : indices) {
      all.writeBytes(bytes(dtype, seed, index, elements));
    }
    return all.toByteArray();
  }

  static Tensor tensor(DType dtype, byte[] bytes, long... shape) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int n = bytes.length / dtype.bytes();
    return switch (dtype) {
      case BOOL -> {
        boolean[] values = new boolean[n];
        for (int i = 0; i < n; i++) {
          values[i] = bytes[i] != 0;
        }
        yield Tensor.wrap(values, shape);
      }
      case INT8, UINT8 -> Tensor.wrap(dtype, bytes, shape);
      case INT16, FLOAT16, BFLOAT16 -> {
        short[] values = new short[n];
        in.asShortBuffer().get(values);
        yield Tensor.wrap(dtype, values, shape);
      }
      case INT32 -> {
        int[] values = new int[n];
        in.asIntBuffer().get(values);
        yield Tensor.wrap(values, shape);
      }
      case INT64 -> {
        long[] values = new long[n];
        in.asLongBuffer().get(values);
        yield Tensor.wrap(values, shape);
      }
      case FLOAT32 -> {
        float[] values = new float[n];
        in.asFloatBuffer().get(values);
        yield Tensor.wrap(values, shape);
      }
      case FLOAT64 -> {
        double[] values = new double[n];
        in.asDoubleBuffer().get(values);
        yield Tensor.wrap(values, shape);
      }
    };
  }

  static Tensor own(DType dtype, long seed, int rank, int... rowShape) {
    return range(dtype, seed, first(rank), first(rank + 1), rowShape);
  }

  static Tensor range(DType dtype, long seed, long from, long to, int... rowShape) {
    byte[] bytes = bytes(dtype, seed, from, to, elements(rowShape));
    return tensor(dtype, bytes, shape(to - from, rowShape));
  }

  static long[] shape(long rows, int... rowShape) {
    long[] shape = new long[rowShape.length + 1];
    shape[0] = rows;
    for (int d = 0; d < rowShape.length; d++) {
      shape[d + 1] = rowShape[d];
    }
    return shape;
  }

  static int elements(int... rowShape) {
    return Arrays.stream(rowShape).reduce(1, (a, b) -> a * b);
  }

  static Variable addLongs(DDStore store, String name, long seed) {
    return store.add(name, own(DType.INT64, seed, store.rank(), 3));
  }

  static byte[] longs(long seed, long... indices) {
    return bytesOf(DType.INT64, seed, 3, indices);
  }

  static Tensor room(Field field, long rows) {
    ByteBuffer memory = ByteBuffer.allocateDirect(Math.toIntExact(rows * field.bytes()));
    return Tensor.wrap(field.dtype(), memory, shape(rows, field.shape()));
  }

  static long[] shuffledTwice(int rows, long seed) {
    long[] indices = new long[2 * rows];
    Arrays.setAll(indices, i -> i % rows);
    Random random = new Random(seed);
    for (int i = indices.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      long swap = indices[i];
      indices[i] = indices[j];
      indices[j] = swap;
    }
    return indices;
  }

  static long seed(String test) {
    long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
    System.out.println(test + ": -Dddstore.test.seed=" + seed);
    return seed;
  }
}
