// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.ddstore.formats.ElementType;
import org.junit.jupiter.api.Test;

class SparseRowsTest {
  private static final GeneMap MAP = GeneMap.of(List.of("a", "b", "c"), List.of("c", "d", "a"));

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
  void genesAreMappedAndAscending() {
    SparseRows rows =
        new SparseRows(new int[] {0, 3, 3, 5}, new int[] {0, 1, 2, 2, 0}, floats(1, 2, 3, 4, 5));

    SparseRows mapped = rows.mapped(MAP, 4);

    assertThat(mapped.offsets()).containsExactly(0, 2, 2, 4);
    assertThat(mapped.genes()).containsExactly(0, 2, 0, 2);
    assertThat(floats(mapped.values())).containsExactly(3, 1, 4, 5);
    assertThat(floats(mapped.dense(3, 4))).containsExactly(3, 0, 1, 0, 0, 0, 4, 0, 5);
  }

  @Test
  void denseRowsAreMapped() {
    ByteBuffer mapped = SparseRows.mapped(floats(1, 2, 3, 4, 5, 6), 2, 3, MAP, 4);

    assertThat(floats(mapped)).containsExactly(3, 0, 1, 6, 0, 4);
  }

  @Test
  void zerosOfBothSignsAreNotStored() {
    SparseRows rows = SparseRows.of(floats(0, -0f, 7, Float.NaN, 0, 8), 2, 3, ElementType.FLOAT32);

    assertThat(rows.offsets()).containsExactly(0, 1, 3);
    assertThat(rows.genes()).containsExactly(2, 0, 2);
    assertThat(floats(rows.values())).containsExactly(7, Float.NaN, 8);
  }

  @Test
  void equalGenesAreNotMapped() {
    assertThat(GeneMap.of(List.of("a", "b"), List.of("a", "b")).isIdentity()).isTrue();
    GeneMap swapped = GeneMap.of(List.of("b", "a"), List.of("a", "b"));
    assertThat(List.of(swapped.of(0), swapped.of(1))).containsExactly(1, 0);
  }
}
