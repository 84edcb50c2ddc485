package org.ddstore.loader;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.DType;
import org.ddstore.Field;
import org.ddstore.Schema;
import org.ddstore.memory.ValueCast;
import org.ddstore.sampling.SampleSpace;

/** What a user wants done to a field; becomes an {@link Output} when the schema is known. */
interface Conversion {
  /** The field that it makes. */
  String name();

  /** The fields that must be read for it. */
  List<String> inputs();

  /** The step that does it. */
  FieldStep step(Schema schema);

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
      conversions.stream()
          .filter(conversion -> conversion.name().equals(name) && !(conversion instanceof ToType))
          .forEach(conversion -> steps.add(conversion.step(schema)));
      conversions.stream()
          .filter(conversion -> conversion.name().equals(name) && conversion instanceof ToType)
          .forEach(conversion -> steps.add(conversion.step(schema)));
      if (!steps.isEmpty()) {
        outputs.add(new Output(name, steps));
      }
    }
    return outputs;
  }
}
