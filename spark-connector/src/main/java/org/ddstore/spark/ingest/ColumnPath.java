package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Where a column lies in a row: at the top, or inside structs. */
final class ColumnPath implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<String> names;
  private final int[] ordinals;

  /** How many fields the struct at each step but the last has. */
  private final int[] structSizes;

  private ColumnPath(List<String> names, int[] ordinals, int... structSizes) {
    this.names = List.copyOf(names);
    this.ordinals = ordinals;
    this.structSizes = structSizes;
  }

  static ColumnPath top(String name, int ordinal) {
    return new ColumnPath(List.of(name), new int[] {ordinal});
  }

  /** Field {@code ordinal} of the struct, of {@code size} fields, that this path leads to. */
  ColumnPath inside(String field, int ordinal, int size) {
    int[] deeper = Arrays.copyOf(ordinals, ordinals.length + 1);
    deeper[ordinals.length] = ordinal;
    int[] sizes = Arrays.copyOf(structSizes, structSizes.length + 1);
    sizes[structSizes.length] = size;
    List<String> longer = new ArrayList<>(names);
    longer.add(field);
    return new ColumnPath(longer, deeper, sizes);
  }

  /** The same path where the top columns are found at other places. */
  ColumnPath at(int... topOrdinals) {
    int[] moved = ordinals.clone();
    moved[0] = topOrdinals[moved[0]];
    return new ColumnPath(names, moved, structSizes);
  }

  /** As users write it: {@code a.b}. */
  String name() {
    return String.join(".", names);
  }

  /** As SQL writes it, in backquotes where that is necessary. */
  String inSql() {
    return names.stream()
        .map(name -> name.matches("[A-Za-z_]\\w*") ? name : "`" + name.replace("`", "``") + "`")
        .collect(Collectors.joining("."));
  }

  /** The names of the structs that it is in, the outermost first, then its own. */
  List<String> names() {
    return names;
  }

  int top() {
    return ordinals[0];
  }

  /** The place of the column in what {@link #parent} gives. */
  int ordinal() {
    return ordinals[ordinals.length - 1];
  }

  /** The row or struct that holds the column, or null if it or one above it is null. */
  SpecializedGetters parent(InternalRow row) {
    SpecializedGetters at = row;
    for (int i = 0; i < structSizes.length; i++) {
      if (at.isNullAt(ordinals[i])) {
        return null;
      }
      at = at.getStruct(ordinals[i], structSizes[i]);
    }
    return at;
  }
}
