// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column that is stored as one or more fields of a record. Immutable. */
abstract class Column implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Result of {@link #observe} for a null value, which has no length. */
  static final int NULL = -1;

  /** Result of {@link #observe} for a sparse vector. */
  static final int SPARSE = -2;

  private final Path path;

  Column(Path path) {
    this.path = path;
  }

  final Path path() {
    return path;
  }

  final String name() {
    return path.name();
  }

  abstract List<Field> fields();

  /** Returns an encoder of this column into records of {@code schema}; not thread-safe. */
  abstract Encoder encoder(Schema schema);

  /** Returns this column at another path of the rows. */
  abstract Column at(Path path);

  /** Returns whether the form is derived from the data. */
  boolean isOpen() {
    return false;
  }

  /** Returns this open column in a form; {@code length} applies to the uniform form. */
  Column in(ArrayForm form, int length) {
    throw new IllegalArgumentException(
        "column \"%s\" has the declared or only form %s".formatted(name(), fields()));
  }

  /** Returns the rows of inner shape, bytes of text or binary, 0 for a scalar, or a constant. */
  int observe(SpecializedGetters parent, int ordinal) {
    return 0;
  }

  /** Returns the bytes of a record, beyond its fixed fields, per unit of {@link #observe}. */
  int observedBytes() {
    return 0;
  }

  /** The path of a column in a row: at the top level or inside structs. */
  static final class Path implements Serializable {
    private static final long serialVersionUID = 1L;

    private final List<String> names;
    private final int[] ordinals;

    /** Number of fields of the struct at each step except the last. */
    private final int[] structSizes;

    private Path(List<String> names, int[] ordinals, int... structSizes) {
      this.names = List.copyOf(names);
      this.ordinals = ordinals;
      this.structSizes = structSizes;
    }

    static Path top(String name, int ordinal) {
      return new Path(List.of(name), new int[] {ordinal});
    }

    /** Returns the path of field {@code ordinal} in this path's struct of {@code size} fields. */
    Path inside(String field, int ordinal, int size) {
      int[] deeper = Arrays.copyOf(ordinals, ordinals.length + 1);
      deeper[ordinals.length] = ordinal;
      int[] sizes = Arrays.copyOf(structSizes, structSizes.length + 1);
      sizes[structSizes.length] = size;
      List<String> longer = new ArrayList<>(names);
      longer.add(field);
      return new Path(longer, deeper, sizes);
    }

    /** Returns this path for rows whose top-level columns have other ordinals. */
    Path at(int... topOrdinals) {
      int[] moved = ordinals.clone();
      moved[0] = topOrdinals[moved[0]];
      return new Path(names, moved, structSizes);
    }

    /** Returns the path in the user's notation, such as {@code a.b}. */
    String name() {
      return String.join(".", names);
    }

    /** Returns the path in SQL notation, with backquotes where necessary. */
    String inSql() {
      return names.stream()
          .map(name -> name.matches("[A-Za-z_]\\w*") ? name : "`" + name.replace("`", "``") + "`")
          .collect(Collectors.joining("."));
    }

    /** Returns the names of the enclosing structs, outermost first, then the column's name. */
    List<String> names() {
      return names;
    }

    int top() {
      return ordinals[0];
    }

    /** Returns the ordinal of the column in its {@link #parent}. */
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

  /** An encoder of one column of a row into a record. Does not retain rows; not thread-safe. */
  abstract static class Encoder {
    private final Path path;
    private final int ordinal;

    Encoder(Path path) {
      this.path = path;
      this.ordinal = path.ordinal();
    }

    final void encode(InternalRow row, RecordBuffer record) {
      SpecializedGetters parent = path.parent(row);
      if (parent == null || parent.isNullAt(ordinal)) {
        encodeNull(record);
      } else {
        encodeValue(parent, ordinal, record);
      }
    }

    abstract void encodeValue(SpecializedGetters parent, int at, RecordBuffer record);

    abstract void encodeNull(RecordBuffer record);

    final String name() {
      return path.name();
    }

    final IngestException problem(RecordBuffer record, String text) {
      return new IngestException(name(), record.row(), text);
    }

    final Path columnPath() {
      return path;
    }

    final IngestException nullProblem(RecordBuffer record) {
      return problem(record, "null; " + record.wording().remedyOfNull(path, false));
    }

    final IngestException nullElementProblem(RecordBuffer record) {
      return problem(record, "null element; " + record.wording().remedyOfNull(path, true));
    }
  }
}
