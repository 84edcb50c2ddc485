package org.ddstore.loader;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.memory.ValueCast;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** What a user wants done to a field; becomes an {@link Output} when the schema is known. */
interface Conversion {
  /** The field that it makes. */
  String name();

  /** The fields that must be read for it. */
  List<String> inputs();

  /** The step that does it. */
  FieldStep step(Schema schema);

  /** The call that asks for it, of which states tell: the same text in every JVM. */
  @Override
  String toString();

  /** Another type, the values times a scale. */
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

  /** All rows of a ragged field of one length. */
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

  /** Two ragged fields as one dense. */
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

  /** The outputs that these make together: shape first, then type. */
  static List<Output> outputs(
      List<Conversion> conversions, List<String> read, Schema schema, SampleSpace space) {
    for (Conversion conversion : conversions) {
      if (!read.contains(conversion.name())) {
        throw new IllegalArgumentException(
            "\"%s\" is to be converted and is not among the fields that are read: %s"
                .formatted(conversion.name(), read));
      }
    }
    List<Output> outputs = new ArrayList<>();
    for (String name : read) {
      Field field = schema.field(name);
      List<FieldStep> steps = new ArrayList<>();
      space
          .crop()
          .filter(crop -> crop.field().equals(name))
          .ifPresent(crop -> steps.add(new CropStep(field, crop)));
      List<Conversion> ofField =
          conversions.stream().filter(conversion -> conversion.name().equals(name)).toList();
      onlyShape(name, ofField).ifPresent(conversion -> steps.add(conversion.step(schema)));
      ofField.stream()
          .filter(conversion -> conversion instanceof ToType)
          .reduce((overruled, last) -> last) // as of a reader's casts
          .ifPresent(conversion -> steps.add(conversion.step(schema)));
      if (!steps.isEmpty()) {
        outputs.add(new Output(name, steps));
      }
    }
    return outputs;
  }

  /**
   * The conversion that is not to another type: each takes a field as it is read, so one at most.
   */
  private static Optional<Conversion> onlyShape(String name, List<Conversion> ofField) {
    List<Conversion> shapes =
        ofField.stream().filter(conversion -> !(conversion instanceof ToType)).toList();
    if (shapes.size() > 1) {
      throw new IllegalArgumentException(
          "\"%s\" is to have %d shapes, by %s: keep one of them"
              .formatted(name, shapes.size(), shapes));
    }
    return shapes.stream().findFirst();
  }
}
