package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.reflect.ClassTag$;

/**
 * Rows sorted by columns or by numbers drawn from a seed, ties by their positions in the source.
 * The position is a key of the sort, so equal keys spread over its partitions as others do.
 *
 * @param isReproducible whether the positions depend on the data alone
 */
record SortedRows(OrderedRows rows, boolean isReproducible) {
  private static final String KEY = "ddstore key ";
  private static final String DRAWN = "ddstore drawn";
  private static final String POSITION = "ddstore position";
  private static final String PARTITIONS = "spark.sql.shuffle.partitions";

  /** By Spark's estimate, which knows files as they are compressed. */
  private static final long PARTITION_BYTES = 16L << 20;

  private static final int MIN_PARTITIONS = 8;
  private static final int MAX_PARTITIONS = 10_000;

  /** Positions of rows that cannot be counted beforehand: partition and row in it. */
  private static final int ROW_BITS = 40;

  static SortedRows of(Dataset<Row> df, Dataset<Row> chosen, IngestOptions options, SQLConf conf) {
    String[] fields = new String[chosen.schema().size()];
    Arrays.setAll(fields, i -> "c" + i);
    List<org.apache.spark.sql.Column> wide = new ArrayList<>();
    String[] names = chosen.schema().fieldNames();
    for (int i = 0; i < names.length; i++) {
      wide.add(SourcePlan.quoted(names[i]).as(fields[i]));
    }
    List<String> keys = new ArrayList<>();
    for (String column : options.orderBy()) {
      keys.add(KEY + keys.size());
      wide.add(functions.col(column).as(keys.get(keys.size() - 1)));
    }
    Dataset<Row> source = df.select(wide.toArray(new org.apache.spark.sql.Column[0]));
    PlanShape shape = PlanShape.of(source.queryExecution().optimizedPlan());
    Optional<SourcePlan.Scan> scan =
        shape == PlanShape.OTHER ? Optional.empty() : SourcePlan.Scan.of(source, shape, true, conf);
    Dataset<Row> positioned = positioned(source, scan, options.shuffleSeed().orElse(0), conf);
    if (options.shuffleSeed().isPresent()) {
      keys.add(DRAWN);
    }
    keys.add(POSITION);
    conf.setConfString(PARTITIONS, Integer.toString(partitions(source)));
    Dataset<Row> sorted =
        positioned.orderBy(columns(keys.toArray(new String[0]))).select(columns(fields));
    return new SortedRows(
        StoredRows.store(sorted.queryExecution().toRdd(), fields.length), scan.isPresent());
  }

  private static Dataset<Row> positioned(
      Dataset<Row> source, Optional<SourcePlan.Scan> scan, long seed, SQLConf conf) {
    RDD<InternalRow> rows;
    long[] first;
    if (scan.isPresent()) {
      OrderedRows counted = scan.get().count(conf);
      rows = counted.partitionsInOrder();
      first = counted.firstPositions();
    } else {
      rows = source.queryExecution().toRdd();
      first = new long[rows.partitions().length];
      Arrays.setAll(first, i -> (long) i << ROW_BITS);
    }
    StructType schema =
        source.schema().add(DRAWN, DataTypes.LongType).add(POSITION, DataTypes.LongType);
    RDD<InternalRow> positioned =
        new JavaRDD<>(rows, ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
            .mapPartitionsWithIndex(new Positions(seed, first), true)
            .rdd();
    return SparkInternals.dataFrame(source, positioned, schema);
  }

  private static int partitions(Dataset<Row> source) {
    double bytes = source.queryExecution().optimizedPlan().stats().sizeInBytes().doubleValue();
    return (int)
        Math.min(MAX_PARTITIONS, Math.max(MIN_PARTITIONS, Math.ceil(bytes / PARTITION_BYTES)));
  }

  private static org.apache.spark.sql.Column[] columns(String... names) {
    return Arrays.stream(names).map(SourcePlan::quoted).toArray(org.apache.spark.sql.Column[]::new);
  }
}
