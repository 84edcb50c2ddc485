// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Checks of column names by Spark's rules, before planning renames the columns, because errors of a
 * plan would show the internal names.
 */
final class ColumnNames {
  private static final String AMBIGUOUS = "AMBIGUOUS";

  private ColumnNames() {}

  /**
   * Checks that Spark finds each column by its name.
   *
   * @throws IllegalArgumentException if Spark cannot distinguish two columns
   */
  static void check(Dataset<Row> df, List<Column> columns) {
    if (SparkInternals.conf(df).caseSensitiveAnalysis()) {
      return;
    }
    for (Column column : columns) {
      String name = column.path().names().get(0);
      for (String other : df.columns()) {
        if (other.equalsIgnoreCase(name) && !other.equals(name)) {
          throw new IllegalArgumentException(
              "columns \"%s\" and \"%s\" differ only in case, which Spark does not distinguish: rename one, or set spark.sql.caseSensitive to true"
                  .formatted(name, other));
        }
      }
    }
  }

  /**
   * Checks the columns that order the rows.
   *
   * @throws IllegalArgumentException if a column is missing, is ambiguous for Spark, or has values
   *     without an order
   */
  static void checkOrder(Dataset<Row> df, IngestOptions options) {
    for (String name : options.orderBy()) {
      String option = "%s \"%s\"".formatted(options.wording().order(), name);
      Dataset<Row> key = select(df, name, option);
      try {
        key.orderBy(SourcePlan.quoted(key.columns()[0]));
      } catch (Exception e) { // Spark throws checked exceptions that it does not declare
        if (e instanceof AnalysisException) {
          throw new IllegalArgumentException(
              "%s: values of %s have no order; use columns of numbers, text, dates or timestamps"
                  .formatted(option, key.schema().fields()[0].dataType().sql()),
              e);
        }
        throw e;
      }
    }
  }

  private static Dataset<Row> select(Dataset<Row> df, String name, String option) {
    try {
      return df.select(LeafTypes.column(df.schema(), name));
    } catch (Exception e) { // as above
      if (!(e instanceof AnalysisException)) {
        throw e;
      }
      String columns = Arrays.toString(df.columns());
      throw new IllegalArgumentException(
          String.valueOf(e.getMessage()).contains(AMBIGUOUS)
              ? "%s: Spark cannot distinguish columns of %s by this name: rename one, or set spark.sql.caseSensitive to true if they differ in case"
                  .formatted(option, columns)
              : "%s: no such column: choose one of %s".formatted(option, columns),
          e);
    }
  }
}
