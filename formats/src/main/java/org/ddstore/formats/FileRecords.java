// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static org.apache.spark.sql.functions.col;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;

/** Files as a DataFrame whose rows a function makes of their bytes. */
public final class FileRecords {
  /** The data source of whole files, and its columns. */
  private static final String FORMAT = "files";

  private static final String PATH = "path";
  private static final String BYTES = "bytes";
  private static final String RECORD = "record";

  private FileRecords() {}

  /**
   * Returns one row per file, in the order of the paths. The function runs when rows are read, on
   * executors; a count does not call it. A store that is loaded from the DataFrame numbers the rows
   * as they come, and each rank reads only files of its own.
   *
   * @param spark session of the DataFrame
   * @param paths files, folders, or patterns such as {@code data/*.wav}
   * @param schema columns of the records; metadata of a column may declare its field in a store
   * @param function function of a file, the same record for the same file each time
   * @return columns of the schema; all can be null
   * @throws IllegalArgumentException if there is no file, or the schema has no column
   */
  public static Dataset<Row> read(
      SparkSession spark, List<String> paths, StructType schema, FileFunction function) {
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(function, "function is null");
    if (schema.isEmpty()) {
      throw new IllegalArgumentException("the schema has no column: at least 1 is needed");
    }
    Dataset<Row> files = spark.read().format(FORMAT).load(paths.toArray(String[]::new));
    return files
        .select(
            functions
                .udf(new RecordFunction(function, schema), schema)
                .apply(col(PATH), col(BYTES))
                .as(RECORD))
        .select(
            Arrays.stream(schema.fieldNames())
                .map(name -> col(RECORD).getField(name).as(name))
                .toArray(Column[]::new));
  }
}
