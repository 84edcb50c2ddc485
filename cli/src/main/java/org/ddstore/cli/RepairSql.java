// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.ddstore.types.Field;

/**
 * An expression of Spark SQL that replaces nulls and fits arrays to their shape, as the options of
 * a load do. Spark parses the values. Shares no code with the load.
 */
final class RepairSql {
  private final DataType innermost;
  private final String fill;
  private final String pad;

  /** Number of elements of each nesting level; -1 if it varies. */
  private final List<Integer> lengths;

  private RepairSql(DataType innermost, String fill, String pad, List<Integer> lengths) {
    this.innermost = innermost;
    this.fill = fill;
    this.pad = pad;
    this.lengths = lengths;
  }

  /**
   * Returns the expression.
   *
   * @param path column in SQL notation
   * @param name name of the column
   */
  static String of(String path, String name, DataType type, SourceOptions options) {
    int depth = 0;
    DataType innermost = type;
    while (innermost instanceof ArrayType array) {
      innermost = array.elementType();
      depth++;
    }
    Field declared =
        options.types.stream()
            .filter(given -> given.column().equals(name))
            .findFirst()
            .map(FieldType::field)
            .orElse(null);
    RepairSql repair =
        new RepairSql(
            innermost,
            ColumnValue.of(name, options.fills),
            ColumnValue.of(name, options.pads),
            lengths(declared, depth));
    boolean isFitted = repair.pad != null || options.truncated.contains(name);
    return repair.column(path, type, isFitted);
  }

  private static List<Integer> lengths(Field declared, int depth) {
    if (declared == null || depth == 0) {
      return IntStream.range(0, depth).mapToObj(level -> -1).toList();
    }
    if (depth == 1) {
      return List.of(declared.isRagged() ? -1 : declared.elements());
    }
    IntStream shape = Arrays.stream(declared.shape());
    return (declared.isRagged() ? IntStream.concat(IntStream.of(-1), shape) : shape)
        .boxed()
        .toList();
  }

  private String column(String path, DataType type, boolean isFitted) {
    if (lengths.isEmpty()) {
      return fill == null ? path : "coalesce(%s, %s)".formatted(path, literal(fill));
    }
    String fitted = fill == null && !isFitted ? path : fitted(path, 0, isFitted);
    if (fill == null) {
      return fitted;
    }
    String inPlace =
        lengths.get(0) < 0
            ? "cast(array() as %s)".formatted(type.sql())
            : repeated(literal(fill), 0);
    return "coalesce(%s, %s)".formatted(fitted, inPlace);
  }

  /** Returns an array of a level whose nulls are replaced and whose length is the declared one. */
  private String fitted(String array, int level, boolean isFitted) {
    String element = "e" + level;
    boolean isLast = level == lengths.size() - 1;
    String inner = isLast ? filled(element) : fitted(element, level + 1, isFitted);
    String all = "transform(%s, %s -> %s)".formatted(array, element, inner);
    int length = lengths.get(level);
    if (!isFitted || length < 0) {
      return all;
    }
    String first = "slice(%s, 1, %d)".formatted(all, length);
    return pad == null
        ? first
        : "concat(%s, slice(%s, 1, greatest(0, %d - size(%s))))"
            .formatted(first, repeated(literal(pad), level), length, array);
  }

  private String filled(String element) {
    return fill == null ? element : "coalesce(%s, %s)".formatted(element, literal(fill));
  }

  /** Returns nested arrays of one value, from a level on. */
  private String repeated(String value, int level) {
    String all = value;
    for (int at = lengths.size() - 1; at >= level; at--) {
      all = "array_repeat(%s, %d)".formatted(all, lengths.get(at));
    }
    return all;
  }

  private String literal(String value) {
    String quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'";
    return innermost instanceof BinaryType
        ? "unhex(%s)".formatted(quoted)
        : "cast(%s as %s)".formatted(quoted, innermost.sql());
  }
}
