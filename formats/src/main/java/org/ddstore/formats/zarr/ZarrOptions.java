// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;

/**
 * The options of the format.
 *
 * @param arrays paths of the arrays to read; empty for all
 * @param box leading lengths of a box; empty to read indices of the first axis
 * @param stride distance of tiles; empty if they lie edge to edge
 * @param shift whether the last tile of an axis is moved back to end with the array, else left out
 * @param crops number of random boxes of each file; 0 for tiles
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ZarrOptions(
    List<String> arrays,
    int[] box,
    int[] stride,
    boolean shift,
    long crops,
    long seed,
    long epoch) {
  static final Set<String> KEYS =
      Set.of(
          FormatOptionKeys.ARRAYS,
          FormatOptionKeys.BOX,
          FormatOptionKeys.STRIDE,
          FormatOptionKeys.EDGE,
          FormatOptionKeys.CROPS,
          FormatOptionKeys.SEED,
          FormatOptionKeys.EPOCH);

  /** Column with the origin of a box. */
  static final String BOX_START = "box_start";

  private static final String SHIFT = "shift";

  static ZarrOptions of(FormatOptions options) {
    int[] box = options.shape(FormatOptionKeys.BOX).orElse(new int[0]);
    int[] stride = options.shape(FormatOptionKeys.STRIDE).orElse(new int[0]);
    requireWith(
        options,
        box.length > 0,
        FormatOptionKeys.BOX,
        FormatOptionKeys.STRIDE,
        FormatOptionKeys.EDGE,
        FormatOptionKeys.CROPS);
    boolean isRandom = options.text(FormatOptionKeys.CROPS).isPresent();
    requireWith(
        options, isRandom, FormatOptionKeys.CROPS, FormatOptionKeys.SEED, FormatOptionKeys.EPOCH);
    for (String key : List.of(FormatOptionKeys.STRIDE, FormatOptionKeys.EDGE)) {
      if (isRandom && options.text(key).isPresent()) {
        throw new IllegalArgumentException(
            "options \"%s\" and \"%s\" exclude each other: boxes are tiles or random crops"
                .formatted(FormatOptionKeys.CROPS, key));
      }
    }
    if (stride.length > 0 && stride.length != box.length) {
      throw new IllegalArgumentException(
          "option \"%s\" has %d dimensions, option \"%s\" has %d: give one stride per dimension"
              .formatted(FormatOptionKeys.STRIDE, stride.length, FormatOptionKeys.BOX, box.length));
    }
    return new ZarrOptions(
        arrays(options),
        box,
        stride.length > 0 ? stride : box,
        options.choice(FormatOptionKeys.EDGE, "drop", "drop", SHIFT).equals(SHIFT),
        options.integer(FormatOptionKeys.CROPS, 0, isRandom ? 1 : 0, Long.MAX_VALUE),
        options.integer(FormatOptionKeys.SEED, 0, Long.MIN_VALUE, Long.MAX_VALUE),
        options.integer(FormatOptionKeys.EPOCH, 0, 0, Long.MAX_VALUE));
  }

  private static void requireWith(
      FormatOptions options, boolean isGiven, String base, String... dependents) {
    for (String key : dependents) {
      if (!isGiven && options.text(key).isPresent()) {
        throw new IllegalArgumentException(
            "option \"%s\" needs option \"%s\"".formatted(key, base));
      }
    }
  }

  private static List<String> arrays(FormatOptions options) {
    Set<String> names = new LinkedHashSet<>(options.list(FormatOptionKeys.ARRAYS));
    if (names.isEmpty()) {
      names.addAll(options.list(FormatOptionKeys.COLUMNS));
      names.remove(BOX_START);
    }
    return List.copyOf(names);
  }

  boolean hasBox() {
    return box.length > 0;
  }
}
