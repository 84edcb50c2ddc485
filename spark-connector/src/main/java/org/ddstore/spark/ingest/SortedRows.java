// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.reflect.ClassTag$;

/**
 * Rows sorted by columns or by pseudorandom numbers, with ties in source order. The position is a
 * sort key, so equal keys are spread over partitions like others.
 *
 * <p>Spark repeats tasks of a sort whose output is lost with an executor, and keeps the results of
 * other tasks that read the earlier output. The numbered rows must therefore be the same, in the
 * same order, on each read: rows of plans other than file scans are stored first. The last field of
 * the sorted rows is their position, by which {@link SortCheck} verifies that each row occurs
 * exactly once.
 *
 * @param isReproducible whether the positions depend only on the data
 */
record SortedRows(OrderedRows rows, boolean isReproducible) {
  private static final String KEY = "ddstore key ";
  private static final String DRAWN = "ddstore drawn";
  private static final String POSITION = "ddstore position";
  private static final String PARTITIONS = "spark.sql.shuffle.partitions";

  /** Bytes per partition by Spark's estimate, which uses the compressed size of files. */
  private static final long PARTITION_BYTES = 16L << 20;

  private static final int MIN_PARTITIONS = 8;
  private static final int MAX_PARTITIONS = 10_000;

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
      wide.add(LeafTypes.column(df.schema(), column).as(keys.get(keys.size() - 1)));
    }
    Dataset<Row> source = df.select(wide.toArray(new org.apache.spark.sql.Column[0]));
    SourcePlan.Shape shape = SourcePlan.Shape.of(source.queryExecution().optimizedPlan());
    Optional<SourcePlan.Scan> scan =
        shape == SourcePlan.Shape.OTHER
            ? Optional.empty()
            : SourcePlan.Scan.of(source, shape, true, conf);
    OrderedRows numbered =
        scan.isPresent()
            ? scan.get().count(conf)
            : StoredRows.store(source.queryExecution().toRdd(), fields.length + keys.size());
    try {
      return new SortedRows(sort(source, numbered, fields, keys, options, conf), scan.isPresent());
    } finally {
      numbered.release();
    }
  }

  private static OrderedRows sort(
      Dataset<Row> source,
      OrderedRows numbered,
      String[] fields,
      List<String> keys,
      IngestOptions options,
      SQLConf conf) {
    Dataset<Row> positioned = positioned(source, numbered, options.shuffleSeed().orElse(0));
    if (options.shuffleSeed().isPresent()) {
      keys.add(DRAWN);
    }
    keys.add(POSITION);
    conf.setConfString(PARTITIONS, Integer.toString(partitions(source)));
    String[] kept = Arrays.copyOf(fields, fields.length + 1);
    kept[fields.length] = POSITION;
    Dataset<Row> sorted =
        positioned.orderBy(columns(keys.toArray(new String[0]))).select(columns(kept));
    return StoredRows.storeSorted(sorted.queryExecution().toRdd(), kept.length, numbered.rows());
  }

  private static Dataset<Row> positioned(Dataset<Row> source, OrderedRows numbered, long seed) {
    StructType schema =
        source.schema().add(DRAWN, DataTypes.LongType).add(POSITION, DataTypes.LongType);
    RDD<InternalRow> positioned =
        new JavaRDD<>(
                numbered.partitionsInOrder(),
                ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
            .mapPartitionsWithIndex(new Positions(seed, numbered.firstPositions()), true)
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

  /** A function that adds two columns to rows: a pseudorandom number and the source position. */
  static final class Positions
      implements Function2<Integer, Iterator<InternalRow>, Iterator<InternalRow>> {
    private static final long serialVersionUID = 1L;

    private final long seed;

    private final long[] firstPositions;

    Positions(long seed, long... firstPositions) {
      this.seed = seed;
      this.firstPositions = firstPositions;
    }

    @Override
    public Iterator<InternalRow> call(Integer partition, Iterator<InternalRow> rows) {
      GenericInternalRow places = new GenericInternalRow(2);
      JoinedRow joined = new JoinedRow();
      return new Iterator<>() {
        private long position = firstPositions[partition];

        @Override
        public boolean hasNext() {
          return rows.hasNext();
        }

        @Override
        public InternalRow next() {
          places.setLong(0, draw(seed, position));
          places.setLong(1, position++);
          return joined.apply(rows.next(), places);
        }
      };
    }

    /** Returns a keyed hash of the position: two SplitMix64 finalizers with the seed between. */
    static long draw(long seed, long position) {
      return mix(mix(position + 0x9E3779B97F4A7C15L) ^ mix(seed));
    }

    private static long mix(long value) {
      long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
      mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
      return mixed ^ (mixed >>> 31);
    }
  }
}
