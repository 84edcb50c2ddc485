package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecutionRDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.internal.SQLConf;

/** The RDD that executes a plan, and the layout of the columns in it. */
final class PhysicalRows {
  private final RDD<?> rdd;
  private final RowFormat format;
  private final int[] ordinals;

  private PhysicalRows(RDD<?> rdd, RowFormat format, int... ordinals) {
    this.rdd = rdd;
    this.format = format;
    this.ordinals = ordinals;
  }

  /** Returns the RDD of rows or batches, see {@link #format}. */
  RDD<?> rdd() {
    return rdd;
  }

  RowFormat format() {
    return format;
  }

  /** Returns the ordinal in a row of each DataFrame column. */
  int[] ordinals() {
    return ordinals.clone();
  }

  /** Returns the plan executed as rows, which every plan supports. */
  static PhysicalRows asRows(QueryExecution execution) {
    int columns = execution.executedPlan().output().size();
    return new PhysicalRows(
        execution.toRdd(), RowFormat.ROWS, IntStream.range(0, columns).toArray());
  }

  /** Returns batches of the scan if only a column selection is above it, else rows. */
  static PhysicalRows fastest(QueryExecution execution, SQLConf conf) {
    SparkPlan plan = strip(execution.executedPlan());
    int[] ordinals = null;
    if (plan instanceof ProjectExec project) {
      ordinals = chosen(project);
      if (ordinals == null) {
        return asRows(execution);
      }
      plan = strip(project.child());
    }
    if (plan instanceof ColumnarToRowExec transition) {
      plan = strip(transition.child());
    }
    if (!plan.supportsColumnar()) {
      return asRows(execution);
    }
    if (ordinals == null) {
      ordinals = IntStream.range(0, plan.output().size()).toArray();
    }
    return new PhysicalRows(withConf(plan.executeColumnar(), conf), RowFormat.BATCHES, ordinals);
  }

  /** Returns the batches with the settings applied on the executors. */
  @SuppressWarnings("unchecked")
  private static RDD<?> withConf(RDD<?> batches, SQLConf conf) {
    return new SQLExecutionRDD((RDD<InternalRow>) batches, conf);
  }

  private static SparkPlan strip(SparkPlan plan) {
    SparkPlan at = plan;
    while (true) {
      if (at instanceof WholeStageCodegenExec stage) {
        at = stage.child();
      } else if (at instanceof InputAdapter adapter) {
        at = adapter.child();
      } else {
        return at;
      }
    }
  }

  /** Returns the ordinals of the projected columns in the child; null if one is computed. */
  private static int[] chosen(ProjectExec project) {
    List<Attribute> inputs = SparkInternals.list(project.child().output());
    List<NamedExpression> outputs = SparkInternals.list(project.projectList());
    int[] places = new int[outputs.size()];
    for (int i = 0; i < places.length; i++) {
      Object expression = outputs.get(i) instanceof Alias alias ? alias.child() : outputs.get(i);
      if (!(expression instanceof Attribute attribute)) {
        return null;
      }
      places[i] = indexOf(inputs, attribute);
      if (places[i] < 0) {
        return null;
      }
    }
    return places;
  }

  private static int indexOf(List<Attribute> attributes, Attribute wanted) {
    for (int i = 0; i < attributes.size(); i++) {
      if (attributes.get(i).exprId().equals(wanted.exprId())) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public String toString() {
    return "PhysicalRows[%s, columns at %s]".formatted(format, Arrays.toString(ordinals));
  }
}
