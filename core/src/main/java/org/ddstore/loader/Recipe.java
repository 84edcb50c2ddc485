// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.ddstore.ReaderOptions;
import org.ddstore.Variable;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.ValueCast;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The description of how a batch is made from samples.
 *
 * @param variable variable that is read
 * @param fields fields that are read
 * @param reading options of the readers
 * @param casts casts of fixed fields that the reader performs
 * @param outputs fields that are converted after the read
 * @param space definition of a sample
 * @param transform last step
 * @param memory source of buffers
 * @param delivery description of the conversions of a sample, for the loader's states
 */
record Recipe(
    Variable variable,
    List<String> fields,
    ReaderOptions reading,
    Map<String, ValueCast> casts,
    List<OutputField> outputs,
    SampleSpace space,
    Consumer<LoadedBatch> transform,
    HostMemory memory,
    Delivery delivery) {

  /** Memory that a reader keeps for fields that it casts, in bytes; more if one row is larger. */
  private static final long CAST_BYTES = 128 << 10;

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
    List<OutputField> outputs = new ArrayList<>();
    Map<String, ValueCast> casts = new LinkedHashMap<>();
    ReaderOptions reading =
        ReaderOptions.defaults().fields(fields.toArray(String[]::new)).memory(memory);
    for (OutputField output : Conversion.outputs(options.conversions(), fields, schema, space)) {
      FieldStep only = output.steps().size() == 1 ? output.steps().get(0) : null;
      if (only instanceof Cast cast && !schema.field(output.name()).isRagged()) {
        ValueCast values = cast.values();
        casts.put(output.name(), values);
        reading = reading.cast(output.name(), values.to(), values.scale());
      } else {
        outputs.add(output);
      }
    }
    return new Recipe(
        variable,
        List.copyOf(fields),
        reading,
        casts,
        outputs,
        space,
        options.transform(),
        memory,
        delivery(schema, fields, options.conversions()));
  }

  private static Delivery delivery(
      Schema schema, List<String> fields, List<Conversion> conversions) {
    Map<String, String> casts = new LinkedHashMap<>();
    List<String> shapes = new ArrayList<>();
    for (Conversion conversion : conversions) {
      if (conversion instanceof Conversion.ToType) {
        casts.put(conversion.name(), conversion.toString()); // the last conversion of a field wins
      } else {
        shapes.add(conversion.toString());
      }
    }
    boolean all = fields.size() == schema.size();
    return Delivery.of(all ? List.of() : fields, List.copyOf(casts.values()), shapes);
  }

  /** Returns the output of a field, or null if it is delivered as read. */
  OutputField outputOf(String field) {
    for (OutputField output : outputs) {
      if (output.name().equals(field)) {
        return output;
      }
    }
    return null;
  }

  /** Returns whether a field has one entry per row, as fixed fields and densified ones have. */
  boolean hasEntryPerRow(String name) {
    OutputField output = outputOf(name);
    boolean madeDense =
        output != null && output.steps().stream().anyMatch(step -> !(step instanceof Cast));
    return fields.contains(name) && (!variable.schema().field(name).isRagged() || madeDense);
  }

  /**
   * Returns whether the memory of a batch is known only after it was made: with ragged fields (also
   * unread ones if rows are remote, because those arrive as whole records), or with a transform,
   * which can allocate.
   */
  boolean isOfUnknownSize() {
    return transform != LoaderOptions.NO_TRANSFORM || readsRagged();
  }

  /**
   * Returns whether a batch is copied from memory that this process maps, into memory of known
   * size, without user code. Checked for each batch, because rows of other ranks may be appended.
   */
  boolean readsAtOnce() {
    return !isOfUnknownSize() && stagingBytes(1) == 0;
  }

  private boolean readsRagged() {
    Schema schema = variable.schema();
    return fields.stream().anyMatch(name -> schema.field(name).isRagged())
        || (!schema.isFixed() && variable.mostStagingBytes(1) > 0);
  }

  /** Returns the bytes of a batch and of its reader, without the data of ragged fields. */
  long capacityBytes(long samples) {
    long rows = samples * space.rowsPerSample();
    long bytes = GrowingBuffer.capacityFor(samples * Float.BYTES);
    for (String name : fields) {
      Field field = variable.schema().field(name);
      long rowBytes = field.isRagged() ? Long.BYTES : readBytes(field);
      bytes += GrowingBuffer.capacityFor((rows + 1) * rowBytes);
      OutputField output = outputOf(name);
      if (output != null) {
        bytes +=
            field.isRagged() // one entry per row; its size is known to the steps or not at all
                ? output.capacityBytes(rows, 0)
                : output.capacityBytes(samples, field.bytes() * (long) space.rowsPerSample());
      }
    }
    return bytes + castBytes(rows) + stagingBytes(samples);
  }

  /** Returns the largest memory of the rows of a batch in transit, in bytes, if all are remote. */
  long stagingBytes(long samples) {
    return variable.mostStagingBytes(samples * space.rowsPerSample());
  }

  private long readBytes(Field field) {
    ValueCast cast = casts.get(field.name());
    long bytes = field.bytes();
    return cast == null ? bytes : bytes / cast.from().bytes() * cast.to().bytes();
  }

  /** Returns the largest memory in which a reader casts a number of rows, in bytes. */
  private long castBytes(long rows) {
    long bytes = 0;
    for (String name : casts.keySet()) {
      long row = variable.schema().field(name).bytes();
      bytes += GrowingBuffer.capacityFor(Math.min(rows * row, Math.max(row, CAST_BYTES)));
    }
    return bytes;
  }
}
