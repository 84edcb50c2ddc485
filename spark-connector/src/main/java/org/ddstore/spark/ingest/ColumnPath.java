// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** The names and ordinals that lead from a row to a column, through structs. Immutable. */
final class ColumnPath implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<String> names;
  private final int[] ordinals;

  private final int[] structSizes;

  private ColumnPath(List<String> names, int[] ordinals, int... structSizes) {
    this.names = List.copyOf(names);
    this.ordinals = ordinals;
    this.structSizes = structSizes;
  }

  static ColumnPath top(String name, int ordinal) {
    return new ColumnPath(List.of(name), new int[] {ordinal});
  }

  /** Returns the path of field {@code ordinal} in this path's struct of {@code size} fields. */
  ColumnPath inside(String field, int ordinal, int size) {
    int[] deeper = Arrays.copyOf(ordinals, ordinals.length + 1);
    deeper[ordinals.length] = ordinal;
    int[] sizes = Arrays.copyOf(structSizes, structSizes.length + 1);
    sizes[structSizes.length] = size;
    List<String> longer = new ArrayList<>(names);
    longer.add(field);
    return new ColumnPath(longer, deeper, sizes);
  }

  /** Returns this path for rows whose top-level columns have other ordinals. */
  ColumnPath at(int... topOrdinals) {
    int[] moved = ordinals.clone();
    moved[0] = topOrdinals[moved[0]];
    return new ColumnPath(names, moved, structSizes);
  }

  /** Returns the path in the user's notation, such as {@code a.b}. */
  String name() {
    return String.join(".", names);
  }

  /** Returns the path in SQL notation, with backquotes where necessary. */
  String inSql() {
    return names.stream().map(ColumnPath::quoted).collect(Collectors.joining("."));
  }

  static String quoted(String name) {
    return name.matches("[A-Za-z_]\\w*") ? name : "`" + name.replace("`", "``") + "`";
  }

  /** Returns the names of the enclosing structs, outermost first, then the column's name. */
  List<String> names() {
    return names;
  }

  int top() {
    return ordinals[0];
  }

  int ordinal() {
    return ordinals[ordinals.length - 1];
  }

  /** Returns the row or struct that contains the column; null if a struct on the path is null. */
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
