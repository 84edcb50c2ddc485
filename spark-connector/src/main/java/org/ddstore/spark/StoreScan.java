package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import scala.jdk.javaapi.CollectionConverters;

/** A scan of a resident store in a plan of Spark. */
public interface StoreScan extends Scan {
  /** Whether it reads other rows than those that the store of its name has now. */
  boolean isStale(ResidentStore now);

  /**
   * Checks rows that are to replace a store. A load plans its query anew, while no other thread
   * writes the store, so it reads the rows of the moment. What Spark has cached is not planned
   * anew.
   *
   * @throws StoreChangedException if Spark has cached rows of the store from before another write
   */
  static void checkCached(Dataset<Row> rows, ResidentStore store) {
    LogicalPlan plan = rows.select("*").queryExecution().withCachedData();
    for (QueryPlan<?> leaf : leaves(plan)) {
      if (leaf instanceof InMemoryRelation cached) {
        for (QueryPlan<?> source : leaves(cached.cachedPlan())) {
          if (source instanceof BatchScanExec scan
              && scan.scan() instanceof StoreScan ofStore
              && ofStore.isStale(store)) {
            throw new StoreChangedException(store.name(), store.rows());
          }
        }
      }
    }
  }

  /** The sources of a plan and of its subqueries. */
  private static List<QueryPlan<?>> leaves(QueryPlan<?> plan) {
    List<QueryPlan<?>> found = new ArrayList<>();
    for (Object leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      if (leaf instanceof AdaptiveSparkPlanExec adaptive) {
        found.addAll(leaves(adaptive.inputPlan()));
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
