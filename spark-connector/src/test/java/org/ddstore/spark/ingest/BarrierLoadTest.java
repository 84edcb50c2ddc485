// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.storage.RDDBlockId;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/** Loads in a barrier stage on separate executors. */
@Tag("system")
@Tag("slow")
class BarrierLoadTest {
  private static final int RANKS = 2;

  @TempDir static Path folder;

  private static TestCluster cluster;
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    cluster = TestCluster.shared(2, 2, Map.of("spark.sql.shuffle.partitions", "4"));
    spark = cluster.session();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** The work of a rank, which returns the ids that it loaded. */
  private static final class Rank
      extends AbstractFunction1<
          scala.collection.Iterator<InternalRow>, scala.collection.Iterator<Object>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    private final RowEncoder encoder;
    private final long rows;

    Rank(IngestPlan plan) {
      encoder = plan.encoder(IntStream.range(0, RANKS).toArray());
      rows = plan.rows();
    }

    @Override
    public scala.collection.Iterator<Object> apply(scala.collection.Iterator<InternalRow> shard) {
      BarrierTaskContext context = BarrierTaskContext.get();
      long first = ExtentMap.balancedStart(rows, context.partitionId(), RANKS);
      long end = ExtentMap.balancedStart(rows, context.partitionId() + 1, RANKS);
      List<Object> ids = new ArrayList<>();
      try (ShardWriter writer = ShardWriter.create(encoder.schema(), StoreOptions.defaults())) {
        encoder.encode(
            CollectionConverters.asJava(shard),
            first,
            record -> {
              ids.add(record.getLong(record.position()));
              writer.appendPacked(record);
            });
        context.barrier();
        if (writer.rows() != ids.size() || ids.size() != end - first) {
          throw new IllegalStateException(
              writer + " of " + ids.size() + " rows, expected " + (end - first));
        }
      }
      return CollectionConverters.asScala(ids.iterator());
    }
  }

  private static long[] load(Dataset<Row> df, IngestOptions options) {
    try (IngestPlan plan = IngestPlan.of(df, options, RANKS)) {
      return load(plan);
    }
  }

  private static long[] load(IngestPlan plan) {
    RDD<Object> ids =
        plan.shards()
            .barrier()
            .mapPartitions(new Rank(plan), false, ClassTag$.MODULE$.<Object>apply(long.class));
    return (long[]) ids.collect();
  }

  @Test
  void loadsFilesSortedRowsAndStoredRows() {
    String path = folder.resolve("data").toString();
    spark
        .range(0, 20_001, 1, 3)
        .selectExpr(
            "id * 7919 % 20001 as id", "id % 3 as k", "array(1f, 2f) as x", "'t' || id as t")
        .write()
        .parquet(path);
    Dataset<Row> df = spark.read().parquet(path);
    IngestOptions plain = IngestOptions.defaults();

    assertThat(load(df, plain))
        .isEqualTo(ids(df.orderBy("_metadata.file_path", "_metadata.row_index")));
    assertThat(load(df, plain.orderBy("k", "id"))).isEqualTo(ids(df.orderBy("k", "id")));
    assertThat(load(df, plain.shuffle(5))).isEqualTo(load(df, plain.shuffle(5)));
    assertThat(load(df.repartition(3), plain)).containsExactlyInAnyOrder(ids(df));
  }

  /** Stores a block in the executor that lacks it, in the opposite order. */
  private static final class Replica
      extends AbstractFunction1<scala.collection.Iterator<Long>, scala.collection.Iterator<Object>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    private final RDDBlockId block;

    Replica(RDDBlockId block) {
      this.block = block;
    }

    @Override
    public scala.collection.Iterator<Object> apply(scala.collection.Iterator<Long> none) {
      if (SparkEnv.get().blockManager().getStatus(block).isEmpty()) {
        StoredBlocks.storeReversed(block, 1);
      }
      BarrierTaskContext.get().barrier();
      return CollectionConverters.asScala(Collections.emptyIterator());
    }
  }

  /** As a speculative task may leave one behind that stored its rows in another order. */
  @Test
  void rejectsDifferingReplicasOfAStoredPartition() {
    Dataset<Row> df = spark.range(0, 20_000).toDF().repartition(1);
    try (IngestPlan plan = IngestPlan.of(df, IngestOptions.defaults(), RANKS)) {
      new JavaSparkContext(spark.sparkContext())
          .parallelize(new ArrayList<Long>(), RANKS)
          .rdd()
          .barrier()
          .mapPartitions(
              new Replica(StoredBlocks.only(spark, 0)),
              false,
              ClassTag$.MODULE$.<Object>apply(long.class))
          .collect();

      assertThatThrownBy(() -> load(plan))
          .hasMessageContaining(
              "SourceChangedException: rows of stored partition 0 were recomputed after the load was planned");
    }
  }

  private static long[] ids(Dataset<Row> df) {
    return df.select("id").collectAsList().stream().mapToLong(row -> row.getLong(0)).toArray();
  }
}
