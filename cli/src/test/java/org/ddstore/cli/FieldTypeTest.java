// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldTypeTest {
  @Test
  void readsShapes() {
    FieldType fixed = FieldType.parse("a.b=uint8[28, 28]");
    assertThat(fixed.column()).isEqualTo("a.b");
    assertThat(fixed.field().dtype()).isEqualTo(DType.UINT8);
    assertThat(fixed.field().isRagged()).isFalse();
    assertThat(fixed.field().shape()).containsExactly(28, 28);

    FieldType ragged = FieldType.parse("points=float32[?,2]");
    assertThat(ragged.field().isRagged()).isTrue();
    assertThat(ragged.field().shape()).containsExactly(2);

    assertThat(FieldType.parse("x=FLOAT64").field().shape()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "x=", "x=float33", "x=int8[a]", "x=int8[2,?]", "x=int8[2"})
  void rejectsMalformedTypes(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> FieldType.parse(text));
  }
}
