// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;

/** Every element type in every shape, in by Java arrays and out by each kind of memory. */
interface TypeContract extends Contract {
  @Test
  default void readsEveryTypeInUpToFourDimensions() throws Exception {
    int[][] shapes = {{}, {1}, {5}, {2, 3}, {3, 1, 2}, {2, 2, 3, 2}};
    run(
        rank -> {
          int rows = Rows.first(rank.ranks());
          long[] indices = Rows.shuffledTwice(rows, 11);
          try (DDStore store = rank.open()) {
            for (DType dtype : DType.values()) {
              for (int s = 0; s < shapes.length; s++) {
                int elements = Rows.elements(shapes[s]);
                String name = dtype.toString() + s;
                Variable x = store.add(name, Rows.own(dtype, s, rank.rank(), shapes[s]));
                byte[] expected = Rows.bytesOf(dtype, s, elements, indices);
                try (var batch = store.getBatch(name, indices)) {
                  Tensor values = batch.field(name);
                  assertThat(values.dtype()).isEqualTo(dtype);
                  assertThat(values.shape()).isEqualTo(Rows.shape(indices.length, shapes[s]));
                  assertThat(values.toByteArray()).as(name).isEqualTo(expected);
                }
                byte[] empty = new byte[expected.length];
                Tensor array = Rows.tensor(dtype, empty, Rows.shape(indices.length, shapes[s]));
                store.getBatch(name, array, indices);
                assertThat(array.toByteArray()).as(name).isEqualTo(expected);
                assertThat(x.schema().field(0).shape()).isEqualTo(shapes[s]);
              }
            }
          }
        });
  }

  @Test
  default void specialValuesKeepTheirBits() throws Exception {
    run(
        rank -> {
          float[] floats = {
            Float.NaN,
            Float.intBitsToFloat(0x7FA00001),
            -0f,
            Float.MIN_VALUE,
            Float.NEGATIVE_INFINITY
          };
          double[] doubles = {Double.longBitsToDouble(0x7FF4000000000001L), -0d, Double.MAX_VALUE};
          short[] halves = {(short) 0x8000, 0x7C01, (short) 0xFFFF, 1};
          try (DDStore store = rank.open()) {
            store.add("f", Tensor.wrap(floats));
            store.add("d", Tensor.wrap(doubles));
            store.add("h", Tensor.wrap(DType.FLOAT16, halves));
            store.add("b", Tensor.wrap(DType.BFLOAT16, halves));
            store.add("u", Tensor.wrap(DType.UINT8, new byte[] {(byte) 0x80, (byte) 0xFF}));
            for (int r = 0; r < rank.ranks(); r++) {
              float[] f = new float[5];
              store.get("f", Tensor.wrap(f), 5L * r);
              double[] d = new double[3];
              store.get("d", Tensor.wrap(d), 3L * r);
              for (int i = 0; i < f.length; i++) {
                assertThat(Float.floatToRawIntBits(f[i]))
                    .isEqualTo(Float.floatToRawIntBits(floats[i]));
              }
              for (int i = 0; i < d.length; i++) {
                assertThat(Double.doubleToRawLongBits(d[i]))
                    .isEqualTo(Double.doubleToRawLongBits(doubles[i]));
              }
              for (String name : new String[] {"h", "b"}) {
                try (var batch = store.getBatch(name, 4L * r, 4L * r + 1, 4L * r + 2, 4L * r + 3)) {
                  assertThat(batch.field(name).toShortArray()).isEqualTo(halves);
                }
              }
              try (var batch = store.getBatch("u", 2L * r, 2L * r + 1)) {
                assertThat(batch.field("u").getLong(0)).isEqualTo(0x80);
                assertThat(batch.field("u").getLong(1)).isEqualTo(0xFF);
              }
            }
          }
        });
  }
}
