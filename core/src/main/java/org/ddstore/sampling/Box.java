// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;
import org.ddstore.types.Field;

/** The shape of a part of a fixed field, checked against the field. */
final class Box {
  private final Field field;
  private final int[] outer;
  private final int[] shape;

  /**
   * @param leading shape in the first dimensions of the field; the other dimensions are complete
   */
  Box(Field field, int... leading) {
    this.field = field;
    this.outer = field.shape();
    if (field.isRagged() || leading.length == 0 || leading.length > outer.length) {
      throw new IllegalArgumentException(
          "a part %s of %s: give a fixed field and 1 to %d dimensions"
              .formatted(Arrays.toString(leading), field, outer.length));
    }
    this.shape = outer.clone();
    for (int d = 0; d < leading.length; d++) {
      if (leading[d] < 1 || leading[d] > outer[d]) {
        throw new IllegalArgumentException(
            "dimension %d of the part %s outside [1, %d] of %s"
                .formatted(d, Arrays.toString(leading), outer[d], field));
      }
      shape[d] = leading[d];
    }
  }

  Field field() {
    return field;
  }

  int dimensions() {
    return shape.length;
  }

  int[] shape() {
    return shape.clone();
  }

  /** Returns how far the box can be moved in a dimension. */
  int room(int dimension) {
    return outer[dimension] - shape[dimension];
  }

  @Override
  public String toString() {
    return "%s, %s".formatted(field.name(), Arrays.toString(shape).replace(" ", ""));
  }
}
