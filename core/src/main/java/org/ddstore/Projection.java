package org.ddstore;

import java.util.Arrays;
import java.util.Objects;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.ValueCast;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** The fields of a variable that a reader reads, as what type, and into which memory. */
final class Projection {
  private final Variable variable;
  private final int[] fields;
  private final ValueCast[] casts;
  private final HostMemory memory;

  Projection(Variable variable, ReaderOptions options) {
    this.variable = variable;
    this.fields = options.fieldsOf(variable.schema());
    this.casts = options.castsOf(variable.schema(), fields);
    this.memory = options.memory();
  }

  Schema schema() {
    return variable.schema();
  }

  /** How many fields are read. */
  int size() {
    return fields.length;
  }

  /** The field at a place of [0, size), as it is stored. */
  Field field(int place) {
    return schema().field(fields[place]);
  }

  /** Its position in the schema. */
  int position(int place) {
    return fields[place];
  }

  /** How it is cast; null if it is given out as it is stored. */
  ValueCast cast(int place) {
    return casts[place];
  }

  boolean hasCasts() {
    return Arrays.stream(casts).anyMatch(cast -> cast != null);
  }

  /** The type in which it is given out. */
  DType dtype(int place) {
    return casts[place] == null ? field(place).dtype() : casts[place].to();
  }

  /**
   * The bytes of one row of it, as it is given out; of a ragged one, of one row of its inner shape.
   */
  int bytes(int place) {
    int stored = field(place).bytes();
    return casts[place] == null
        ? stored
        : stored / casts[place].from().bytes() * dtype(place).bytes();
  }

  /** The place of a field by name. */
  int place(String name) {
    Objects.requireNonNull(name, "name is null");
    int index = schema().indexOf(name);
    for (int i = 0; i < fields.length; i++) {
      if (fields[i] == index) {
        return i;
      }
    }
    throw new IllegalArgumentException(
        "field \"%s\" was not chosen when the reader was made".formatted(name));
  }

  /** True if batches of one can hold what readers of the other read. */
  boolean isLike(Projection other) {
    return variable == other.variable
        && Arrays.equals(fields, other.fields)
        && Arrays.equals(casts, other.casts);
  }

  GrowingBuffer newBuffer() {
    return new GrowingBuffer(memory);
  }
}
