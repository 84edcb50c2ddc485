package org.ddstore.spark.ingest;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.FileScan;

/** The kind of an optimized plan with respect to the order of its rows. */
enum PlanShape {
  /** One file scan below deterministic projections and filters. */
  FILES,
  /** Literal rows or a range below the same: rows are in partition order. */
  LITERAL,
  /** Any other plan. */
  OTHER;

  static PlanShape of(LogicalPlan optimized) {
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
    if (at instanceof LocalRelation || at instanceof Range || at instanceof OneRowRelation) {
      return LITERAL;
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
