// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.commons.math3.stat.descriptive.rank.Median;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.ResidentShard;

/** The queries of {@link ScanBench} and the rows in store and cache. Owns store and cache. */
final class ScanRun implements AutoCloseable {
  static final List<String> QUERIES = List.of("sum", "count", "lookup");

  private static final int WARM_UP_ROUNDS = 3;
  private static final String STORE = "bench-scan";
  private static final long SEED = 7;

  /** Beginning of the line of the transport in the description of a store. */
  private static final String TRANSPORT = "transport: ";

  private final SparkSession session;
  private final Dataset<Row> cached;
  private final ResidentStore store;
  private final String indices;
  private long mismatches;
  private int queriesRun;

  private ScanRun(SparkSession session, Dataset<Row> cached, ResidentStore store, String indices) {
    this.session = session;
    this.cached = cached;
    this.store = store;
    this.indices = indices;
  }

  /**
   * Loads the rows into a store and into Spark's cache.
   *
   * @param store the specification of the store, from that of the rows
   */
  static ScanRun load(
      SparkSession session, long rows, int lookups, UnaryOperator<StoreSpec> store) {
    Dataset<Row> source =
        session
            .range(rows)
            .selectExpr(
                "id",
                "cast(id % 100 as int) as label",
                "cast(id % 4096 as float) as value",
                "array("
                    + LongStream.range(0, 8)
                        .mapToObj("cast(id %% 65536 + %d as float)"::formatted)
                        .collect(Collectors.joining(","))
                    + ") as features");
    String indices =
        new Random(SEED)
            .longs(lookups, 0, rows)
            .mapToObj(Long::toString)
            .collect(Collectors.joining(","));
    ResidentStore loaded = store.apply(DDStores.from(source)).load(STORE);
    Dataset<Row> cached = source.persist(StorageLevel.MEMORY_ONLY());
    cached.count();
    cached.createOrReplaceTempView("bench_scan_cache");
    return new ScanRun(session, cached, loaded, indices);
  }

  boolean isAllCached() {
    return Arrays.stream(session.sparkContext().getRDDStorageInfo())
        .filter(info -> info.memSize() > 0)
        .anyMatch(ScanRun::isComplete);
  }

  private static boolean isComplete(RDDInfo info) {
    return info.numCachedPartitions() == info.numPartitions();
  }

  Set<String> storeExecutors() {
    return store.shards().stream().map(ResidentShard::executorId).collect(Collectors.toSet());
  }

  /** Returns the transport of the store and the reason for its choice, human-readable. */
  String transport() {
    return store
        .explain()
        .lines()
        .filter(line -> line.startsWith(TRANSPORT))
        .map(line -> line.substring(TRANSPORT.length()))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the number of queries of each of the two, including those of warm-up rounds. */
  int queriesRun() {
    return queriesRun;
  }

  /** Returns the number of results of the store that differ from those of the cache. */
  long mismatches() {
    return mismatches;
  }

  private String sql(String query, String table, String index) {
    return switch (query) {
      case "sum" -> "select sum(value) from " + table;
      case "count" -> "select count(*) from %s where label = 7".formatted(table);
      default ->
          "select id, label, value, features from %s where %s in (%s)"
              .formatted(table, index, indices);
    };
  }

  /** Measures a query of both in alternation and returns the medians. */
  ScanBench.Measured measure(String query, int rounds) {
    double[] storeMillis = new double[rounds];
    double[] cacheMillis = new double[rounds];
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      long start = System.nanoTime();
      List<Row> found =
          session.sql(sql(query, "ddstore.`" + STORE + "`", "__index")).collectAsList();
      long middle = System.nanoTime();
      List<Row> expected = session.sql(sql(query, "bench_scan_cache", "id")).collectAsList();
      long end = System.nanoTime();
      queriesRun++;
      mismatches += sorted(found).equals(sorted(expected)) ? 0 : 1;
      if (round >= 0) {
        storeMillis[round] = (middle - start) / 1e6;
        cacheMillis[round] = (end - middle) / 1e6;
      }
    }
    double storeMedian = new Median().evaluate(storeMillis);
    double cacheMedian = new Median().evaluate(cacheMillis);
    return new ScanBench.Measured(query, storeMedian, cacheMedian, storeMedian / cacheMedian);
  }

  private static List<String> sorted(List<Row> rows) {
    return rows.stream().map(Row::toString).sorted().toList();
  }

  @Override
  public void close() {
    cached.unpersist(true);
    store.drop();
  }
}
