// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.ingest.LeafTypes;
import org.ddstore.spark.task.PartitionJob;
import scala.Tuple2;

/**
 * A query of Spark SQL for the rows of files in order, as one hash per row, for the check of the
 * demo. Shares no code with the load: Spark SQL orders the rows by file path and row index, and
 * {@link SqlRows} hashes them.
 */
final class RowOracle {
  /** Maximum number of known rows; a random sample if the data set has more. */
  static final int MAX_ROWS = 1_000_000;

  private static final String HASH = "hash";

  private RowOracle() {}

  /**
   * Runs the jobs.
   *
   * @param files rows from a plain read of files
   * @param orderBy sort columns before path and row index; can be empty
   * @param seed seed of the sample, if the data set has too many rows
   */
  static ExpectedRows query(
      Dataset<Row> files, List<Leaf> leaves, List<String> orderBy, long seed) {
    List<Column> keys = new ArrayList<>();
    Dataset<Row> keyed = hashes(files, leaves, orderBy, keys);
    Column[] order = keys.toArray(new Column[0]);
    long rows = files.count();
    if (rows <= MAX_ROWS) {
      // One partition avoids the sampling of keys, for which Spark would hash all rows twice.
      List<Row> all = keyed.repartition(1).sortWithinPartitions(order).select(HASH).collectAsList();
      return new ExpectedRows(rows, new long[0], all.stream().map(RowOracle::hash).toList());
    }
    long[] drawn =
        new SplittableRandom(seed).longs(MAX_ROWS, 0, rows).distinct().sorted().toArray();
    PartitionJob<List<byte[]>> choice =
        PartitionJob.of(
            keyed.orderBy(order).select(HASH).javaRDD().zipWithIndex().rdd(),
            numbered -> {
              List<byte[]> chosen = new ArrayList<>();
              while (numbered.hasNext()) {
                Tuple2<Row, Long> row = numbered.next();
                if (Arrays.binarySearch(drawn, row._2()) >= 0) {
                  chosen.add(hash(row._1()));
                }
              }
              return chosen;
            });
    return new ExpectedRows(rows, drawn, choice.run().stream().flatMap(List::stream).toList());
  }

  private static byte[] hash(Row row) {
    return (byte[]) row.get(0);
  }

  /**
   * Returns the keys and the hash of each row.
   *
   * @param keys receives the columns to sort by
   */
  private static Dataset<Row> hashes(
      Dataset<Row> files, List<Leaf> leaves, List<String> orderBy, List<Column> keys) {
    List<Column> wide = new ArrayList<>();
    for (int i = 0; i < leaves.size(); i++) {
      wide.add(leaves.get(i).column().as("value" + i));
    }
    Column metadata = files.metadataColumn("_metadata");
    List<Column> order = new ArrayList<>();
    orderBy.forEach(column -> order.add(LeafTypes.column(files.schema(), column)));
    order.add(metadata.getField("file_path"));
    order.addAll(inFile(metadata, files));
    for (int i = 0; i < order.size(); i++) {
      wide.add(order.get(i).as("key" + i));
      keys.add(functions.col("key" + i));
    }
    Dataset<Row> rows = files.select(wide.toArray(new Column[0]));
    StructType schema = new StructType();
    for (int i = 0; i < order.size(); i++) {
      schema = schema.add(rows.schema().apply("key" + i));
    }
    schema = schema.add(HASH, DataTypes.BinaryType);
    return rows.mapPartitions(new HashRows(leaves, order.size()), Encoders.row(schema));
  }

  /**
   * Returns the columns that order the rows of a file: their index, or for the formats of Spark
   * that do not report it, the block and the order in which a task reads it.
   */
  private static List<Column> inFile(Column metadata, Dataset<Row> files) {
    StructType known =
        (StructType) files.select(metadata.as("place")).schema().apply("place").dataType();
    return List.of(known.fieldNames()).contains("row_index")
        ? List.of(metadata.getField("row_index"))
        : List.of(metadata.getField("file_block_start"), functions.monotonically_increasing_id());
  }

  /** A function that keeps the keys of each row and replaces its values by a hash. */
  private record HashRows(List<Leaf> leaves, int keys) implements MapPartitionsFunction<Row, Row> {
    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
      SqlRows hasher = new SqlRows(leaves);
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return rows.hasNext();
        }

        @Override
        public Row next() {
          Row row = rows.next();
          Object[] cells = new Object[keys + 1];
          for (int i = 0; i < keys; i++) {
            cells[i] = row.get(leaves.size() + i);
          }
          cells[keys] = hasher.hash(row);
          return RowFactory.create(cells);
        }
      };
    }
  }
}
