package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.ddstore.spark.types.StoreChangedException;
import scala.jdk.javaapi.CollectionConverters;

/** Rows of stores that Spark has in its cache. */
final class CachedRows {
  private CachedRows() {}

  /**
   * Checks rows that are to replace a store. A load plans its query anew, while no other thread
   * writes the store, so it reads the rows of the moment. What Spark has cached is not planned
   * anew.
   *
   * @throws StoreChangedException if Spark has cached rows of the store from before another write
   */
  static void check(Dataset<Row> rows, ResidentStore store) {
    for (QueryPlan<?> leaf : leaves(rows.select("*").queryExecution().withCachedData())) {
      if (leaf instanceof BatchScanExec scan // a logical plan has none but what is cached
          && scan.scan() instanceof StoreScan ofStore
          && ofStore.isStale(store)) {
        throw new StoreChangedException(store.name(), store.rows());
      }
    }
  }

  /** The sources of a plan and of its subqueries, for cached ones those of what was cached. */
  static List<QueryPlan<?>> leaves(QueryPlan<?> plan) {
    List<QueryPlan<?>> found = new ArrayList<>();
    for (Object leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      if (leaf instanceof AdaptiveSparkPlanExec adaptive) {
        found.addAll(leaves(adaptive.inputPlan()));
      } else if (leaf instanceof InMemoryRelation cached) {
        found.addAll(leaves(cached.cachedPlan()));
      } else if (leaf instanceof InMemoryTableScanExec cached) {
        found.addAll(leaves(cached.relation().cachedPlan()));
      } else {
        found.add((QueryPlan<?>) leaf);
      }
    }
    for (Object subquery : CollectionConverters.asJava(plan.subqueriesAll())) {
      found.addAll(leaves((QueryPlan<?>) subquery));
    }
    return found;
  }
}
