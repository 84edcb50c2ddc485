package org.ddstore.loader;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.ddstore.Field;
import org.ddstore.Schema;
import org.ddstore.Variable;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.SampleSpace;

/**
 * How a batch is made of samples.
 *
 * @param variable that is read
 * @param fields that are read
 * @param outputs the fields that are converted
 * @param space what a sample is
 * @param transform the last step
 * @param memory where its buffers come from
 */
record Recipe(
    Variable variable,
    List<String> fields,
    List<Output> outputs,
    SampleSpace space,
    Consumer<LoadedBatch> transform,
    HostMemory memory) {

  /** What a reader keeps for remote rows, unless one row is larger. */
  private static final long STAGING_BYTES = 32 << 20;

  static Recipe of(Variable variable, SampleSpace space, LoaderOptions options, HostMemory memory) {
    Schema schema = variable.schema();
    List<String> fields = new ArrayList<>(options.fields());
    if (fields.isEmpty()) {
      schema.fields().forEach(field -> fields.add(field.name()));
    }
    for (Conversion conversion : options.conversions()) {
      for (String input : conversion.inputs()) {
        if (!fields.contains(input)) {
          fields.add(input);
        }
      }
    }
    space
        .crop()
        .ifPresent(
            crop -> {
              if (!fields.contains(crop.field())) {
                throw new IllegalArgumentException(
                    "the sampler cuts \"%s\", which is not among the fields that are read: %s"
                        .formatted(crop.field(), fields));
              }
            });
    List<Output> outputs = Conversion.outputs(options.conversions(), fields, schema, space);
    return new Recipe(variable, List.copyOf(fields), outputs, space, options.transform(), memory);
  }

  /** The output of a field, or null if it is given out as it is read. */
  Output outputOf(String field) {
    for (Output output : outputs) {
      if (output.name().equals(field)) {
        return output;
      }
    }
    return null;
  }

  /** Whether a field has one entry for each row, as fixed ones have and those made dense. */
  boolean hasEntryPerRow(String name) {
    Output output = outputOf(name);
    boolean madeDense =
        output != null && output.steps().stream().anyMatch(step -> !(step instanceof Cast));
    return fields.contains(name) && (!variable.schema().field(name).isRagged() || madeDense);
  }

  /** The memory that remote rows of so many bytes take on their way. */
  long stagingBytes(long bytes) {
    return Math.min(bytes, STAGING_BYTES);
  }

  /** The memory of a batch without the data of ragged fields, which is not known before. */
  long capacityBytes(long samples) {
    long rows = samples * space.rowsPerSample();
    long bytes = GrowingBuffer.capacityFor(samples * Float.BYTES);
    for (String name : fields) {
      Field field = variable.schema().field(name);
      long rowBytes = field.isRagged() ? Long.BYTES : field.bytes();
      bytes += GrowingBuffer.capacityFor((rows + 1) * rowBytes);
      Output output = outputOf(name);
      if (output != null) {
        long inBytes = field.isRagged() ? 0 : field.bytes() * (long) space.rowsPerSample();
        bytes += output.capacityBytes(samples, inBytes);
      }
    }
    return bytes;
  }
}
