// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/** A user's declaration of a column's field; the shape of a ragged field is its inner shape. */
final class DeclaredField implements Serializable {
  private static final long serialVersionUID = 1L;

  private final boolean ragged;
  private final DType dtype;
  private final int[] shape;

  DeclaredField(boolean ragged, DType dtype, int... shape) {
    this.ragged = ragged;
    this.dtype = Objects.requireNonNull(dtype, "dtype is null");
    this.shape = shape.clone();
  }

  boolean ragged() {
    return ragged;
  }

  DType dtype() {
    return dtype;
  }

  int[] shape() {
    return shape;
  }

  Field field(String name) {
    return ragged ? Field.ragged(name, dtype, shape) : Field.fixed(name, dtype, shape);
  }

  /** Returns a form such as {@code uint8[28, 28]} or {@code float32[?, 2]}; checks nothing. */
  @Override
  public String toString() {
    Stream<String> inner = Arrays.stream(shape).mapToObj(Integer::toString);
    String all =
        Stream.concat(ragged ? Stream.of("?") : Stream.empty(), inner)
            .collect(Collectors.joining(", "));
    return all.isEmpty() ? dtype.toString() : "%s[%s]".formatted(dtype, all);
  }
}
