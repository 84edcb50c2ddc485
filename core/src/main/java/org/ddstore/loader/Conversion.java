// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.memory.ValueCast;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A conversion of a field as the user requests it; the schema makes it an {@link OutputField}. */
interface Conversion {
  String name();

  /** Returns the fields that must be read for the conversion. */
  List<String> inputs();

  FieldStep step(Schema schema);

  /** Returns the call that requests the conversion: the same text in every JVM, for states. */
  @Override
  String toString();

  /** A cast to another element type, with the values multiplied by a scale. */
  record ToType(String name, DType to, float scale) implements Conversion {
    @Override
    public List<String> inputs() {
      return List.of(name);
    }

    @Override
    public FieldStep step(Schema schema) {
      return new Cast(new ValueCast(schema.field(name).dtype(), to, scale));
    }

    @Override
    public String toString() {
      return "cast(\"%s\", %s, %s)".formatted(name, to, Float.toHexString(scale));
    }
  }

  /** A padding of all rows of a ragged field to one length. */
  record ToLength(String name, int length) implements Conversion {
    @Override
    public List<String> inputs() {
      return List.of(name);
    }

    @Override
    public FieldStep step(Schema schema) {
      return new PadStep(schema.field(name), length);
    }

    @Override
    public String toString() {
      return "pad(\"%s\", %d)".formatted(name, length);
    }
  }

  /** A densification of two ragged fields into one dense field. */
  record ToDense(String name, String columns, int width) implements Conversion {
    @Override
    public List<String> inputs() {
      return List.of(name, columns);
    }

    @Override
    public FieldStep step(Schema schema) {
      return new DensifyStep(schema.field(columns), schema.field(name), width);
    }

    @Override
    public String toString() {
      return "densify(\"%s\", \"%s\", %d)".formatted(name, columns, width);
    }
  }

  /** Returns the outputs that the conversions produce together: shape first, then type. */
  static List<OutputField> outputs(
      List<Conversion> conversions, List<String> read, Schema schema, SampleSpace space) {
    for (Conversion conversion : conversions) {
      if (!read.contains(conversion.name())) {
        throw new IllegalArgumentException(
            "conversion of \"%s\", which is not among the fields that are read: %s"
                .formatted(conversion.name(), read));
      }
    }
    List<OutputField> outputs = new ArrayList<>();
    for (String name : read) {
      Field field = schema.field(name);
      List<FieldStep> steps = new ArrayList<>();
      space
          .crop()
          .filter(crop -> crop.field().equals(name))
          .ifPresent(crop -> steps.add(new CropStep(field, crop)));
      List<Conversion> candidates =
          conversions.stream().filter(conversion -> conversion.name().equals(name)).toList();
      onlyShape(name, candidates).ifPresent(conversion -> steps.add(conversion.step(schema)));
      candidates.stream()
          .filter(conversion -> conversion instanceof ToType)
          .reduce((overruled, last) -> last) // the last one wins, as with a reader's casts
          .ifPresent(conversion -> steps.add(conversion.step(schema)));
      if (!steps.isEmpty()) {
        outputs.add(new OutputField(name, steps));
      }
    }
    return outputs;
  }

  /** Returns the shape conversion of a field, at most one, because each takes the field as read. */
  private static Optional<Conversion> onlyShape(String name, List<Conversion> candidates) {
    List<Conversion> shapes =
        candidates.stream().filter(conversion -> !(conversion instanceof ToType)).toList();
    if (shapes.size() > 1) {
      throw new IllegalArgumentException(
          "\"%s\" has %d shape conversions, by %s: keep one of them"
              .formatted(name, shapes.size(), shapes));
    }
    return shapes.stream().findFirst();
  }
}
