package org.ddstore;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.ValueCast;
import org.ddstore.types.DType;
import org.ddstore.types.Internal;
import org.ddstore.types.Schema;

/**
 * What a reader reads, and what its batches are made of. Immutable; the methods give changed
 * copies.
 */
public final class ReaderOptions {
  private static final ReaderOptions DEFAULTS =
      new ReaderOptions(List.of(), Map.of(), HostMemory.plain("not asked for"));

  /** What becomes of a field. */
  private record Wanted(DType to, float scale) {}

  private final List<String> fields;
  private final Map<String, Wanted> casts;
  private final HostMemory memory;

  private ReaderOptions(List<String> fields, Map<String, Wanted> casts, HostMemory memory) {
    this.fields = fields;
    this.casts = casts;
    this.memory = memory;
  }

  /** All fields as they are stored. */
  public static ReaderOptions defaults() {
    return DEFAULTS;
  }

  /** Reads these fields alone, in this order; all if none is named. */
  public ReaderOptions withFields(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return new ReaderOptions(List.of(names), casts, memory);
  }

  /**
   * Gives a fixed field out as another type, each value times a scale, while it is copied into the
   * batch. Of two for one field the last counts.
   *
   * @param to float32 or bfloat16
   * @param scale finite
   */
  public ReaderOptions cast(String field, DType to, float scale) {
    Objects.requireNonNull(field, "field is null");
    Map<String, Wanted> more = new LinkedHashMap<>(casts);
    more.put(field, new Wanted(Objects.requireNonNull(to, "to"), scale));
    return new ReaderOptions(fields, more, memory);
  }

  /** Where the buffers of batches come from; it stays open as long as batches are. */
  @Internal
  public ReaderOptions withMemory(HostMemory newMemory) {
    return new ReaderOptions(fields, casts, Objects.requireNonNull(newMemory, "memory"));
  }

  /** Positions of the fields in a schema. */
  int[] fieldsOf(Schema schema) {
    return schema.indicesOf(fields.toArray(String[]::new));
  }

  /** The casts of chosen fields, by their place among them; null where there is none. */
  ValueCast[] castsOf(Schema schema, int... chosen) {
    ValueCast[] all = new ValueCast[chosen.length];
    for (Map.Entry<String, Wanted> wanted : casts.entrySet()) {
      int field = schema.indexOf(wanted.getKey());
      int place = 0;
      while (place < chosen.length && chosen[place] != field) {
        place++;
      }
      if (place == chosen.length || schema.field(field).isRagged()) {
        throw new IllegalArgumentException(
            "a cast of %s, which is %s: name a fixed field that is read"
                .formatted(schema.field(field), place == chosen.length ? "not read" : "ragged"));
      }
      Wanted cast = wanted.getValue();
      all[place] = new ValueCast(schema.field(field).dtype(), cast.to(), cast.scale());
    }
    return all;
  }

  HostMemory memory() {
    return memory;
  }
}
