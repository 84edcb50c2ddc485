// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/**
 * The mapping of a DataFrame column, top-level or nested in structs, to the fields of a record.
 *
 * @param path names from the outermost column to this one
 * @param type type of the column in the DataFrame
 * @param fields names of its fields: one field, or {@code size}, {@code indices} and {@code values}
 *     if the column contains sparse vectors
 */
public record ColumnMapping(List<String> path, DataType type, List<String> fields)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the value and checks it.
   *
   * @param path names from the outermost column to this one
   * @param type type of the column in the DataFrame
   * @param fields names of its fields: one field, or {@code size}, {@code indices} and {@code
   *     values} if the column contains sparse vectors
   */
  public ColumnMapping {
    path = List.copyOf(path);
    fields = List.copyOf(fields);
  }
}
