package org.ddstore.spark.cluster;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.ddstore.spark.CachedRows;
import org.ddstore.spark.StoreTable;
import org.ddstore.spark.resident.ResidentLayout;

/** What is better known before ranks run. */
final class RunWarnings {
  private static final String WAIT = "spark.locality.wait";
  private static final String WAIT_FOR_EXECUTOR = "spark.locality.wait.process";
  private static final String DEFAULT_WAIT = "3s";
  private static final String AUTHENTICATE = "spark.authenticate";

  private RunWarnings() {}

  static List<String> of(SparkContext context, ResourceProfile profile, int ranks) {
    return of(ranks, ClusterFacts.of(context, profile).slots(), context.getConf());
  }

  static List<String> of(int ranks, int slots, SparkConf conf) {
    return Stream.of(ofSlots(ranks, slots), ofLocality(conf)).flatMap(Optional::stream).toList();
  }

  /** Of ranks that take all slots. */
  static Optional<String> ofSlots(int ranks, int slots) {
    if (ranks < slots) {
      return Optional.empty();
    }
    return Optional.of(
        "%d ranks take all %d slots: while they run every other job of the application waits, queries of resident stores among them; %s"
            .formatted(
                ranks,
                slots,
                slots > 1
                    ? "spark.ddstore.ranks=%d leaves one free".formatted(slots - 1)
                    : "one slot more would stay free"));
  }

  /**
   * Returns a warning if Spark does not authenticate connections.
   *
   * @param master of the application; those that start with {@code local} are tests on one host
   */
  static Optional<String> ofAuthentication(String master, SparkConf conf) {
    if (master.startsWith("local") || conf.getBoolean(AUTHENTICATE, false)) {
      return Optional.empty();
    }
    return Optional.of(
        "%s is false: any process that reaches a port of the driver or of an executor can fetch a task and the token of a store in it, and read the rows; set %s=true, or restrict these ports to the cluster"
            .formatted(AUTHENTICATE, AUTHENTICATE));
  }

  /** Of Spark's patience with executors that have no free slot. */
  static Optional<String> ofLocality(SparkConf conf) {
    String wait = conf.get(WAIT_FOR_EXECUTOR, conf.get(WAIT, DEFAULT_WAIT));
    if (JavaUtils.timeStringAsMs(wait) <= 0) {
      return Optional.empty();
    }
    return Optional.of(
        "%s is %s: when an executor has no free slot for a rank, the start waits so long before the rank goes elsewhere; it is read when the application starts, %s=0 is best"
            .formatted(conf.contains(WAIT_FOR_EXECUTOR) ? WAIT_FOR_EXECUTOR : WAIT, wait, WAIT));
  }

  /**
   * Rows of a store that come from the store itself: a query of SQL that reads the store into which
   * it writes. A read by a handle, in the user's code, is not found.
   *
   * @param name of the store
   * @param rows that are loaded into it
   */
  static Optional<String> ofSource(String name, Dataset<Row> rows) {
    if (readStores(rows).noneMatch(name::equals)) {
      return Optional.empty();
    }
    return Optional.of(
        "rows that are written into \"%s\" are read from it: they cannot be loaded again when an executor is lost. Give the store a width, which keeps copies, or write the rows to files and load those"
            .formatted(name));
  }

  private static Stream<String> readStores(Dataset<Row> rows) {
    return CachedRows.leaves(rows.queryExecution().analyzed()).stream()
        .map(
            leaf -> {
              if (leaf instanceof DataSourceV2Relation relation) {
                return relation.table();
              }
              return leaf instanceof DataSourceV2ScanRelation scan ? scan.relation().table() : null;
            })
        .filter(StoreTable.class::isInstance)
        .map(table -> ((StoreTable) table).storeName());
  }

  /**
   * Replicas of a store whose copies of some shard are all in one MPI world: it ends with the first
   * executor that it loses.
   *
   * @param name of the store
   * @param world executors of an MPI world
   */
  static Optional<String> ofWorld(String name, ResidentLayout layout, Set<String> world) {
    boolean isUnprotected =
        layout.groups().groups() > 1 && !layout.hasGaps() && layout.without(world).hasGaps();
    if (!isUnprotected) {
      return Optional.empty();
    }
    return Optional.of(
        "all copies of shards of \"%s\" are on executors %s, which are one MPI world: when one of them is lost all are replaced, and rows are loaded again from their source. Use tcp for jobs beside such a store, or run them in another application"
            .formatted(name, new TreeSet<>(world)));
  }
}
