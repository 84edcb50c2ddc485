package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
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
    this.dtype = Objects.requireNonNull(dtype, "dtype");
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

  @Override
  public String toString() {
    return (ragged ? "ragged " : "") + dtype + Arrays.toString(shape);
  }
}
