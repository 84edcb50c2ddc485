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

/**
 * Asks Spark SQL for the rows of files in their order, one hash each, for the check of the demo.
 * Shares no code with the load: Spark SQL orders the rows by file path and row index, and {@link
 * SqlRows} hashes them as users get them.
 */
final class RowOracle {
  /** Of more rows than this, as many drawn ones are known. */
  static final int MAX_ROWS = 1_000_000;

  private static final String HASH = "hash";

  private RowOracle() {}

  /**
   * Runs the jobs.
   *
   * @param files a plain read of files
   * @param orderBy columns that go before path and row index; may be empty
   * @param seed of the draw, if there are too many rows
   */
  static ExpectedRows ask(Dataset<Row> files, List<Leaf> leaves, List<String> orderBy, long seed) {
    Dataset<Row> hashes = hashes(files, leaves, orderBy);
    long rows = files.count();
    if (rows <= MAX_ROWS) {
      return new ExpectedRows(
          rows, null, hashes.collectAsList().stream().map(row -> (byte[]) row.get(0)).toList());
    }
    long[] drawn =
        new SplittableRandom(seed).longs(MAX_ROWS, 0, rows).distinct().sorted().toArray();
    List<byte[]> chosen =
        hashes
            .javaRDD()
            .zipWithIndex()
            .filter(row -> Arrays.binarySearch(drawn, row._2()) >= 0)
            .map(row -> (byte[]) row._1().get(0))
            .collect();
    return new ExpectedRows(rows, drawn, chosen);
  }

  private static Dataset<Row> hashes(Dataset<Row> files, List<Leaf> leaves, List<String> orderBy) {
    List<Column> values = new ArrayList<>();
    for (int i = 0; i < leaves.size(); i++) {
      values.add(leaves.get(i).column().as("value" + i));
    }
    List<Column> keys = new ArrayList<>();
    StructType schema = new StructType();
    for (String column : orderBy) {
      keys.add(functions.col(column));
    }
    Column place = files.metadataColumn("_metadata");
    keys.add(place.getField("file_path"));
    keys.add(place.getField("row_index"));
    List<String> keyNames = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      keyNames.add("key" + i);
      values.add(keys.get(i).as("key" + i));
    }
    Dataset<Row> wide = files.select(values.toArray(new Column[0]));
    for (String name : keyNames) {
      schema = schema.add(name, wide.schema().apply(name).dataType());
    }
    schema = schema.add(HASH, DataTypes.BinaryType);
    return wide.mapPartitions(new HashRows(leaves, keyNames.size()), Encoders.row(schema))
        .orderBy(keyNames.stream().map(functions::col).toArray(Column[]::new))
        .select(HASH);
  }

  /** Keeps the keys of each row and puts a hash in the place of its values. */
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
