// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.ddstore.types.Schema;

/**
 * The schema of a scan.
 *
 * @param required required columns in order; structs can have a subset of their fields
 * @param table all columns with all fields
 * @param indexColumns names of the columns that hold the global index, required or not
 */
record ReadSchema(StructType required, StructType table, Set<String> indexColumns)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static ReadSchema of(StructType required, StructType table, Set<String> indexColumns) {
    return new ReadSchema(required, table, new TreeSet<>(indexColumns));
  }

  /** Returns the mapping of each required column; null for an index column. */
  List<ReadColumn> columns(Schema records) {
    List<ReadColumn> columns = new ArrayList<>();
    for (StructField field : required.fields()) {
      columns.add(
          indexColumns.contains(field.name())
              ? null
              : ReadColumn.of(
                  field.name(), field.dataType(), table.apply(field.name()).dataType(), records));
    }
    return columns;
  }

  /** Returns whether a column has a user-defined type at any depth. */
  boolean hasUserDefinedType() {
    return hasUserDefinedType(required);
  }

  private static boolean hasUserDefinedType(DataType type) {
    if (type instanceof StructType struct) {
      for (StructField field : struct.fields()) {
        if (hasUserDefinedType(field.dataType())) {
          return true;
        }
      }
      return false;
    }
    return type instanceof UserDefinedType<?>
        || (type instanceof ArrayType array && hasUserDefinedType(array.elementType()));
  }

  /** Returns the share of a record's bytes that the columns take, by Spark's size estimates. */
  double share() {
    double all = Math.max(1, table.defaultSize());
    return Math.min(1, required.defaultSize() / all);
  }
}
