// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.formats.ElementType;
import org.junit.jupiter.api.Test;

class SparseRowsTest {
  private static ByteBuffer floats(float... values) {
    ByteBuffer buffer = ByteBuffer.allocate(values.length * 4).order(ByteOrder.BIG_ENDIAN);
    buffer.asFloatBuffer().put(values);
    return buffer;
  }

  private static float[] floats(ByteBuffer buffer) {
    return (float[])
        ElementType.FLOAT32.decode(buffer.duplicate().order(buffer.order()), buffer.capacity() / 4);
  }

  @Test
  void zerosOfBothSignsAreNotStored() {
    SparseRows rows = SparseRows.of(floats(0, -0f, 7, Float.NaN, 0, 8), 2, 3, ElementType.FLOAT32);

    assertThat(rows.offsets()).containsExactly(0, 1, 3);
    assertThat(rows.genes()).containsExactly(2, 0, 2);
    assertThat(floats(rows.values())).containsExactly(7, Float.NaN, 8);
  }
}
