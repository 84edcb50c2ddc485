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
 * How a batch is made of samples.
 *
 * @param variable that is read
 * @param fields that are read
 * @param reading how a reader reads them
 * @param casts what the reader makes of fixed fields on the way
 * @param outputs the fields that are converted after that
 * @param space what a sample is
 * @param transform the last step
 * @param memory where its buffers come from
 * @param delivery what all this makes of a sample, for the loader's states
 */
record Recipe(
    Variable variable,
    List<String> fields,
    ReaderOptions reading,
    Map<String, ValueCast> casts,
    List<Output> outputs,
    SampleSpace space,
    Consumer<LoadedBatch> transform,
    HostMemory memory,
    Delivery delivery) {

  /** What a reader keeps for fields that it casts, unless one row is larger. */
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
    List<Output> outputs = new ArrayList<>();
    Map<String, ValueCast> casts = new LinkedHashMap<>();
    ReaderOptions reading =
        ReaderOptions.defaults().withFields(fields.toArray(String[]::new)).withMemory(memory);
    for (Output output : Conversion.outputs(options.conversions(), fields, schema, space)) {
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
        casts.put(conversion.name(), conversion.toString()); // the last of a field counts
      } else {
        shapes.add(conversion.toString());
      }
    }
    boolean all = fields.size() == schema.size();
    return Delivery.of(all ? List.of() : fields, List.copyOf(casts.values()), shapes);
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

  /**
   * Whether what a batch takes is known only when it has been made: of ragged rows, where remote
   * rows come as wholes, and of what a transform allocates.
   */
  boolean isOfUnknownSize() {
    return transform != LoaderOptions.NO_TRANSFORM || readsRagged();
  }

  /**
   * Whether a batch is copied out of memory that this process has, into as much as is known before,
   * without code of the user's: asked anew for each, since rows of others may be appended.
   */
  boolean readsAtOnce() {
    return !isOfUnknownSize() && stagingBytes(1) == 0;
  }

  private boolean readsRagged() {
    Schema schema = variable.schema();
    return fields.stream().anyMatch(name -> schema.field(name).isRagged())
        || (!schema.isFixed() && variable.mostStagingBytes(1) > 0);
  }

  /**
   * The memory of a batch, and of what its reader needs to read it, without the data of ragged
   * fields, which is not known before.
   */
  long capacityBytes(long samples) {
    long rows = samples * space.rowsPerSample();
    long bytes = GrowingBuffer.capacityFor(samples * Float.BYTES);
    for (String name : fields) {
      Field field = variable.schema().field(name);
      long rowBytes = field.isRagged() ? Long.BYTES : readBytes(field);
      bytes += GrowingBuffer.capacityFor((rows + 1) * rowBytes);
      Output output = outputOf(name);
      if (output != null) {
        bytes +=
            field.isRagged() // one entry a row, of a size that the steps know or nobody
                ? output.capacityBytes(rows, 0)
                : output.capacityBytes(samples, field.bytes() * (long) space.rowsPerSample());
      }
    }
    return bytes + castBytes(rows) + stagingBytes(samples);
  }

  /** The memory that the rows of a batch take at most on their way, if they are remote. */
  long stagingBytes(long samples) {
    return variable.mostStagingBytes(samples * space.rowsPerSample());
  }

  /** The bytes of a fixed field in one row, as it is read. */
  private long readBytes(Field field) {
    ValueCast cast = casts.get(field.name());
    long bytes = field.bytes();
    return cast == null ? bytes : bytes / cast.from().bytes() * cast.to().bytes();
  }

  /** The memory in which a reader casts so many rows, at most. */
  private long castBytes(long rows) {
    long bytes = 0;
    for (String name : casts.keySet()) {
      long row = variable.schema().field(name).bytes();
      bytes += GrowingBuffer.capacityFor(Math.min(rows * row, Math.max(row, CAST_BYTES)));
    }
    return bytes;
  }
}
