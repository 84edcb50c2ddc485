// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.Partition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.FileScan;
import org.apache.spark.sql.execution.datasources.v2.TextBasedFileScan;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.internal.SQLConf;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.types.OrderedScan;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The rows of a DataFrame in their global order, and the way they are read.
 *
 * @param columns columns with their ordinals in the rows
 * @param route human-readable description of how the rows are read
 */
record SourcePlan(OrderedRows rows, List<Column> columns, String route, List<String> warnings) {
  private static final String NOT_REPRODUCIBLE =
      "the row order is not reproducible: the plan is more than one file scan with projections and"
          + " filters, so its rows were numbered once, in partition order; load the files directly,"
          + " or order by columns that identify a row";
  private static final String TIES_NOT_REPRODUCIBLE =
      "the order of rows that are equal in %s is not reproducible: the plan is more than"
          + " one file scan with projections and filters; order by columns that identify a row";

  static SourcePlan of(Dataset<Row> df, List<Column> columns, IngestOptions options) {
    SQLConf conf = SparkInternals.conf(df).clone();
    conf.setConfString("spark.sql.adaptive.enabled", "false");
    return SparkInternals.withConf(conf, () -> plan(df, columns, options, conf));
  }

  private static SourcePlan plan(
      Dataset<Row> df, List<Column> columns, IngestOptions options, SQLConf conf) {
    int[] tops = columns.stream().mapToInt(column -> column.path().top()).distinct().toArray();
    Dataset<Row> chosen = df.select(names(df, tops));
    int[] places = new int[df.schema().size()];
    for (int i = 0; i < tops.length; i++) {
      places[tops[i]] = i;
    }
    List<Column> placed = move(columns, places);
    if (!options.orderBy().isEmpty() || options.shuffleSeed().isPresent()) {
      return sorted(df, chosen, placed, options, conf);
    }
    Shape shape = Shape.of(chosen.queryExecution().optimizedPlan());
    if (shape != Shape.OTHER) {
      Optional<Scan> scan = Scan.of(chosen, shape, false, conf);
      if (scan.isPresent()) {
        OrderedRows rows = scan.get().count(conf);
        String route =
            (rows.format() == RowReader.Format.BATCHES ? "columnar batches" : "unsafe rows")
                + (shape == Shape.FILES ? ", in scan order" : ", in partition order");
        return new SourcePlan(
            rows, move(placed, scan.get().physical().ordinals()), route, List.of());
      }
    }
    QueryExecution execution = chosen.queryExecution();
    OrderedRows rows = StoredRows.store(execution.toRdd(), tops.length);
    return new SourcePlan(
        rows, placed, "unsafe rows, stored in partition order", List.of(NOT_REPRODUCIBLE));
  }

  private static SourcePlan sorted(
      Dataset<Row> df,
      Dataset<Row> chosen,
      List<Column> placed,
      IngestOptions options,
      SQLConf conf) {
    SortedRows sorting = SortedRows.of(df, chosen, options, conf);
    List<String> warnings = new ArrayList<>();
    boolean shuffled = options.shuffleSeed().isPresent();
    if (!sorting.isReproducible()) {
      warnings.add(
          shuffled ? NOT_REPRODUCIBLE : TIES_NOT_REPRODUCIBLE.formatted(options.orderBy()));
    }
    String route =
        shuffled
            ? "unsafe rows, shuffled with seed " + options.shuffleSeed().getAsLong()
            : "unsafe rows, sorted by " + String.join(", ", options.orderBy());
    return new SourcePlan(sorting.rows(), placed, route, warnings);
  }

  private static org.apache.spark.sql.Column[] names(Dataset<Row> df, int... ordinals) {
    return Arrays.stream(ordinals)
        .mapToObj(i -> quoted(df.schema().fields()[i].name()))
        .toArray(org.apache.spark.sql.Column[]::new);
  }

  static org.apache.spark.sql.Column quoted(String name) {
    return functions.col("`" + name.replace("`", "``") + "`");
  }

  private static List<Column> move(List<Column> columns, int... places) {
    return columns.stream().map(column -> column.at(column.path().at(places))).toList();
  }

  /** The partitions of a plan whose order is known without executing it. */
  record Scan(Dataset<Row> df, PhysicalRows physical, List<SourcePartition> partitions) {

    /** Returns the scan; empty if the execution of the plan does not match its shape. */
    static Optional<Scan> of(Dataset<Row> df, Shape shape, boolean asRows, SQLConf conf) {
      QueryExecution execution = df.queryExecution();
      PhysicalRows physical =
          asRows ? PhysicalRows.asRows(execution) : PhysicalRows.fastest(execution, conf);
      Optional<List<SourcePartition>> partitions =
          shape == Shape.FILES ? physical.fileSplits() : Optional.of(inOrder(physical.rdd()));
      return partitions.map(found -> new Scan(df, physical, found));
    }

    private static List<SourcePartition> inOrder(RDD<?> rdd) {
      List<SourcePartition> partitions = new ArrayList<>();
      for (Partition partition : rdd.partitions()) {
        partitions.add(new SourcePartition(partition, "partition " + partition.index()));
      }
      return partitions;
    }

    /**
     * Counts the rows, reading only the columns that filters need. The columns decide which lines
     * Spark drops as malformed, so such a scan counts with all that it reads.
     */
    OrderedRows count(SQLConf conf) {
      LogicalPlan optimized = df.queryExecution().optimizedPlan();
      Dataset<Row> bare = df.select(new org.apache.spark.sql.Column[0]);
      Shape shape = Shape.of(bare.queryExecution().optimizedPlan());
      Optional<Scan> counting =
          shape == Shape.of(optimized) && !mayDropLines(optimized)
              ? Scan.of(bare, shape, false, conf).filter(scan -> scan.places().equals(places()))
              : Optional.empty();
      long[] counts = counting.orElse(this).run();
      return new OrderedRows(
          physical.rdd(), physical.format(), df.schema().size(), partitions, counts, false);
    }

    /**
     * Returns whether Spark may leave out lines of CSV or JSON that it cannot parse, depending on
     * the columns that it parses.
     */
    private static boolean mayDropLines(LogicalPlan plan) {
      for (LogicalPlan leaf : SparkInternals.list(plan.collectLeaves())) {
        if (leaf instanceof LogicalRelation relation
            && relation.relation() instanceof HadoopFsRelation files) {
          Map<String, String> options = CollectionConverters.asJava(files.options());
          if (options.entrySet().stream().anyMatch(Scan::dropsMalformed)) {
            return true;
          }
        }
        if (leaf instanceof DataSourceV2ScanRelation scan
            && scan.scan() instanceof TextBasedFileScan) {
          return true; // the options of these scans differ between releases of Spark
        }
      }
      return false;
    }

    private static boolean dropsMalformed(Map.Entry<String, String> option) {
      return option.getKey().equalsIgnoreCase("mode")
          && option.getValue().equalsIgnoreCase("DROPMALFORMED");
    }

    private long[] run() {
      return OrderedRows.count(physical.rdd(), physical.format(), df.schema().size(), partitions);
    }

    private List<String> places() {
      return partitions.stream().map(SourcePartition::place).toList();
    }
  }

  /** The kind of an optimized plan with respect to the order of its rows. */
  enum Shape {
    /** One file scan below deterministic projections and filters. */
    FILES,
    /**
     * Literal rows, a range, or an {@link OrderedScan} below the same: rows are in partition order.
     */
    PARTITIONS,
    OTHER;

    static Shape of(LogicalPlan optimized) {
      LogicalPlan at = optimized;
      while (at instanceof Project || at instanceof Filter) {
        boolean isFilter = at instanceof Filter;
        for (Expression expression : SparkInternals.list(at.expressions())) {
          if (!isRepeatable(expression, isFilter)) {
            return OTHER;
          }
        }
        at = SparkInternals.list(at.children()).get(0);
      }
      if (readsFiles(at)) {
        return FILES;
      }
      if (at instanceof LocalRelation
          || at instanceof Range
          || at instanceof OneRowRelation
          || (at instanceof DataSourceV2ScanRelation scan && scan.scan() instanceof OrderedScan)) {
        return PARTITIONS;
      }
      return OTHER;
    }

    private static boolean readsFiles(LogicalPlan leaf) {
      if (leaf instanceof LogicalRelation relation) {
        return relation.relation() instanceof HadoopFsRelation;
      }
      return leaf instanceof DataSourceV2ScanRelation scan && scan.scan() instanceof FileScan;
    }

    /** Returns whether an expression is repeatable; user functions must not select rows. */
    private static boolean isRepeatable(Expression expression, boolean decidesRows) {
      if (expression instanceof SubqueryExpression
          || !expression.deterministic()
          || (decidesRows && expression instanceof UserDefinedExpression)) {
        return false;
      }
      List<Expression> children = SparkInternals.list(expression.children());
      return children.stream().allMatch(child -> isRepeatable(child, decidesRows));
    }
  }
}
