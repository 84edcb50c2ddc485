// SPDX-License-Identifier: Apache-2.0
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

/** The fields, casts and batch memory of a reader. Immutable; the methods return changed copies. */
public final class ReaderOptions {
  private static final ReaderOptions DEFAULTS =
      new ReaderOptions(List.of(), Map.of(), HostMemory.plain("not requested"));

  private record Wanted(DType to, float scale) {}

  private final List<String> fields;
  private final Map<String, Wanted> casts;
  private final HostMemory memory;

  private ReaderOptions(List<String> fields, Map<String, Wanted> casts, HostMemory memory) {
    this.fields = fields;
    this.casts = casts;
    this.memory = memory;
  }

  /** {@return options to read all fields as they are stored} */
  public static ReaderOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Selects these fields, in this order; all fields if none is named.
   *
   * @param names names of different fields
   * @return a copy with this option
   */
  public ReaderOptions fields(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return new ReaderOptions(List.of(names), casts, memory);
  }

  /**
   * Converts a fixed field to another type and multiplies each value by a scale, while the values
   * are copied into the batch. The last cast of a field applies.
   *
   * @param field name of a numeric field of fixed shape
   * @param to output type: float32 or bfloat16
   * @param scale finite factor
   * @return a copy with this option
   */
  public ReaderOptions cast(String field, DType to, float scale) {
    Objects.requireNonNull(field, "field is null");
    Map<String, Wanted> updated = new LinkedHashMap<>(casts);
    updated.put(field, new Wanted(Objects.requireNonNull(to, "to is null"), scale));
    return new ReaderOptions(fields, updated, memory);
  }

  /**
   * Sets the memory that batch buffers are allocated from; it must stay open as long as batches are
   * open.
   *
   * @param memory memory of the batches
   * @return a copy with this option
   */
  @Internal
  public ReaderOptions memory(HostMemory memory) {
    return new ReaderOptions(fields, casts, Objects.requireNonNull(memory, "memory is null"));
  }

  int[] fieldsOf(Schema schema) {
    return schema.indicesOf(fields.toArray(String[]::new));
  }

  /** Returns the casts of the chosen fields, by their place; null for a field without a cast. */
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
            "cannot cast %s, which is %s: name a fixed field that is read"
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
