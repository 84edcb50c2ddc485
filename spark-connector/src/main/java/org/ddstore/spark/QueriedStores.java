// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.ddstore.spark.types.StoreChangedException;
import scala.jdk.javaapi.CollectionConverters;

/** The resident stores that a query reads. */
final class QueriedStores {
  private QueriedStores() {}

  /**
   * Checks rows that are about to replace a store. A load plans its query anew, while no other
   * thread writes the store, so it reads the current rows. Spark does not plan cached rows anew.
   *
   * @throws StoreChangedException if Spark has cached rows of the store from before another write
   */
  static void check(Dataset<Row> rows, ResidentStore store) {
    for (QueryPlan<?> leaf : leaves(rows.select("*").queryExecution().withCachedData())) {
      if (leaf instanceof BatchScanExec scan // in a logical plan, only cached rows
          && scan.scan() instanceof StoreScan storeScan
          && storeScan.isStale(store)) {
        throw new StoreChangedException(store.name(), store.rows());
      }
    }
  }

  /** Returns the leaves of a plan, its cached plans and its subqueries. */
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

  /**
   * Returns a warning if a query reads the same store into which its rows are written. Does not
   * detect reads by a handle in the user's code.
   *
   * @param name name of the store
   * @param rows rows to be loaded into it
   */
  static Optional<String> warning(String name, Dataset<Row> rows) {
    if (readStores(rows).noneMatch(name::equals)) {
      return Optional.empty();
    }
    return Optional.of(
        "store \"%s\" is written from its own rows, which cannot be loaded again when an executor is lost: set a width, which keeps copies, or write the rows to files and load those"
            .formatted(name));
  }

  private static Stream<String> readStores(Dataset<Row> rows) {
    return leaves(rows.queryExecution().analyzed()).stream()
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
}
