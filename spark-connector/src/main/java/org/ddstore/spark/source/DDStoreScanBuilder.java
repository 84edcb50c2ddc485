// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;

/**
 * A builder of scans that pushes down operations a store evaluates without reading rows: conditions
 * on the index, limits, and row counts. All of them are exact; Spark evaluates everything else.
 */
final class DDStoreScanBuilder
    implements SupportsPushDownRequiredColumns,
        SupportsPushDownV2Filters,
        SupportsPushDownLimit,
        SupportsPushDownAggregates {
  private final ResidentStore store;
  private final StoreHandle handle;
  private final StructType schema;
  private final Set<String> indexColumns = new TreeSet<>();
  private final List<Predicate> pushed = new ArrayList<>();
  private StructType required;
  private RowRanges ranges;
  private long rowsOverLimit;
  private int counts;

  /**
   * @param schema schema of the table, including the index column, if any
   * @param indexColumn name of the index column; null for none
   * @param sample rows to read; null for all
   */
  DDStoreScanBuilder(ResidentStore store, StructType schema, String indexColumn, RowRanges sample) {
    this.store = store;
    this.handle = store.handle();
    this.schema = schema;
    this.required = schema;
    this.ranges = sample == null ? RowRanges.between(0, handle.rows()) : sample;
    if (!Set.of(schema.fieldNames()).contains(DDStoreTable.INDEX)) {
      indexColumns.add(DDStoreTable.INDEX);
    }
    if (indexColumn != null) {
      indexColumns.add(indexColumn);
    }
  }

  @Override
  public void pruneColumns(StructType columns) {
    required = columns;
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    IndexPredicate index = new IndexPredicate(indexColumns, handle.rows());
    List<Predicate> left = new ArrayList<>();
    for (Predicate predicate : predicates) {
      Optional<RowRanges> rows = index.ranges(predicate);
      if (rows.isPresent()) {
        ranges = ranges.and(rows.get());
        pushed.add(predicate);
      } else {
        left.add(predicate);
      }
    }
    return left.toArray(new Predicate[0]);
  }

  @Override
  public Predicate[] pushedPredicates() {
    return pushed.toArray(new Predicate[0]);
  }

  /** Accepts a limit, except on a count. */
  @Override
  public boolean pushLimit(int limit) {
    if (counts > 0) {
      return false;
    }
    rowsOverLimit += ranges.rows();
    ranges = ranges.first(limit);
    rowsOverLimit -= ranges.rows();
    return true;
  }

  @Override
  public boolean isPartiallyPushed() {
    return false;
  }

  /** Accepts {@code COUNT(*)}; Spark calls this only if all conditions were pushed. */
  @Override
  public boolean pushAggregation(Aggregation aggregation) {
    if (aggregation.groupByExpressions().length > 0) {
      return false;
    }
    for (AggregateFunc function : aggregation.aggregateExpressions()) {
      if (!(function instanceof CountStar)) {
        return false;
      }
    }
    counts = aggregation.aggregateExpressions().length;
    return counts > 0;
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    return true;
  }

  @Override
  public Scan build() {
    return counts > 0
        ? new CountScan(store.name(), ranges.rows(), counts)
        : new DDStoreScan(
            store,
            handle,
            ReadSchema.of(required, schema, indexColumns),
            ranges,
            handle.rows() - ranges.rows() - rowsOverLimit);
  }
}
