package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/**
 * How a column of a DataFrame, at the top or inside structs, became fields of a record.
 *
 * @param path the names that lead to it, from the outermost column
 * @param type as the DataFrame has it
 * @param fields the names of its fields: one, or {@code size}, {@code indices} and {@code values}
 *     of a column of which some vectors are sparse
 */
public record ColumnMapping(List<String> path, DataType type, List<String> fields)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public ColumnMapping {
    path = List.copyOf(path);
    fields = List.copyOf(fields);
  }
}
