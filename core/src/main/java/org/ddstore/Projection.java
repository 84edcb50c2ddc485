// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.ValueCast;
import org.ddstore.read.RecordGather;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** The selected fields of a reader, with their output types and their memory. */
final class Projection {
  private final Variable variable;
  private final int[] fields;
  private final ValueCast[] casts;
  private final boolean hasCasts;
  private final HostMemory memory;

  Projection(Variable variable, ReaderOptions options) {
    this.variable = variable;
    this.fields = options.fieldsOf(variable.schema());
    this.casts = options.castsOf(variable.schema(), fields);
    this.hasCasts = Arrays.stream(casts).anyMatch(cast -> cast != null);
    this.memory = options.memory();
  }

  Schema schema() {
    return variable.schema();
  }

  int size() {
    return fields.length;
  }

  /** Returns the stored field at a place in [0, size). */
  Field field(int place) {
    return schema().field(fields[place]);
  }

  int position(int place) {
    return fields[place];
  }

  /** Returns the cast of the field at a place; null if values are returned as stored. */
  ValueCast cast(int place) {
    return casts[place];
  }

  boolean hasCasts() {
    return hasCasts;
  }

  DType dtype(int place) {
    return casts[place] == null ? field(place).dtype() : casts[place].to();
  }

  /** Returns the output size in bytes of one row of a field; ragged: one row of its inner shape. */
  int bytes(int place) {
    int stored = field(place).bytes();
    return casts[place] == null
        ? stored
        : stored / casts[place].from().bytes() * dtype(place).bytes();
  }

  int place(String name) {
    Objects.requireNonNull(name, "name is null");
    int index = schema().indexOf(name);
    for (int i = 0; i < fields.length; i++) {
      if (fields[i] == index) {
        return i;
      }
    }
    throw new IllegalArgumentException(
        "field \"%s\" is not read by this reader, whose fields are %s: select it in Variable.reader(..)"
            .formatted(
                name, IntStream.range(0, fields.length).mapToObj(i -> field(i).name()).toList()));
  }

  /** Returns whether batches of one projection can hold the rows that readers of the other read. */
  boolean isLike(Projection other) {
    return variable == other.variable
        && Arrays.equals(fields, other.fields)
        && Arrays.equals(casts, other.casts);
  }

  RecordGather newGather() {
    return new RecordGather(variable.schema(), fields, casts);
  }

  GrowingBuffer newBuffer() {
    return new GrowingBuffer(memory);
  }

  /** Returns names and output types, such as {@code x: float32[3], label: int64}. */
  @Override
  public String toString() {
    return IntStream.range(0, fields.length)
        .mapToObj(place -> field(place).name() + ": " + typeText(place))
        .collect(Collectors.joining(", "));
  }

  private String typeText(int place) {
    Field stored = field(place);
    if (casts[place] == null) {
      return stored.typeText();
    }
    Field output =
        stored.isRagged()
            ? Field.ragged(stored.name(), dtype(place), stored.shape())
            : Field.fixed(stored.name(), dtype(place), stored.shape());
    return output.typeText();
  }
}
