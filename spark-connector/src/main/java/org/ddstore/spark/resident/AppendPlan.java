// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.types.Schema;

/**
 * The check that rows fit the resident store to which they are appended.
 *
 * @param sourceSchema stored columns of its DataFrame
 * @param columns fields of each leaf of the source schema
 */
public record AppendPlan(
    String name, StructType sourceSchema, List<ColumnMapping> columns, Schema schema) {

  /**
   * Selects the columns of the store, in its order.
   *
   * @param exactly whether to select only these columns and to reject others
   * @throws IllegalArgumentException if columns are missing or unexpected; the message names them
   */
  Dataset<Row> select(Dataset<Row> rows, boolean exactly) {
    TreeSet<String> missing = new TreeSet<>(Arrays.asList(sourceSchema.fieldNames()));
    TreeSet<String> more = new TreeSet<>(Arrays.asList(rows.columns()));
    more.removeAll(missing);
    missing.removeAll(Arrays.asList(rows.columns()));
    if (!missing.isEmpty() || (exactly && !more.isEmpty())) {
      throw new IllegalArgumentException(
          "rows of columns %s cannot be appended to \"%s\" of columns %s: missing %s, unexpected %s"
              .formatted(
                  Arrays.toString(rows.columns()),
                  name,
                  Arrays.toString(sourceSchema.fieldNames()),
                  missing,
                  more));
    }
    return exactly
        ? rows.select(
            Arrays.stream(sourceSchema.fieldNames())
                .map(column -> functions.col("`" + column.replace("`", "``") + "`"))
                .toArray(Column[]::new))
        : rows;
  }

  /**
   * Returns the plan with columns in the form of those of the store.
   *
   * @throws IllegalArgumentException if types differ; the message names the difference
   */
  IngestPlan like(IngestPlan fresh) {
    List<ColumnMapping> found = fresh.mappings();
    IngestPlan plan = null;
    String difference = typeDifference(found);
    if (difference == null) {
      plan = fresh.like(schema);
      difference =
          plan.schema().equals(schema)
              ? null
              : "records of %s where the store has %s".formatted(plan.schema(), schema);
    }
    if (difference != null) {
      fresh.close();
      throw new IllegalArgumentException(
          "the rows cannot be appended to \"%s\": %s".formatted(name, difference));
    }
    return plan;
  }

  private String typeDifference(List<ColumnMapping> found) {
    for (int i = 0; i < Math.min(found.size(), columns.size()); i++) {
      ColumnMapping there = columns.get(i);
      ColumnMapping here = found.get(i);
      if (!here.path().equals(there.path())
          || !here.type().catalogString().equals(there.type().catalogString())) {
        return "column %s of type %s where the store has %s of type %s"
            .formatted(
                String.join(".", here.path()),
                here.type().catalogString(),
                String.join(".", there.path()),
                there.type().catalogString());
      }
    }
    return found.size() == columns.size()
        ? null
        : "%d columns where the store has %d".formatted(found.size(), columns.size());
  }
}
