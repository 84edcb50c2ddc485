// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

/**
 * A translator of conditions on the global index into the rows for which they are true. A NULL in a
 * list turns a false {@code IN} into unknown, which is equivalent in a filter but not below {@code
 * NOT}: Spark evaluates such conditions.
 */
final class IndexPredicate {
  private final Set<String> columns;
  private final long rows;

  IndexPredicate(Set<String> columns, long rows) {
    this.columns = columns;
    this.rows = rows;
  }

  /** Returns exactly the rows that a condition selects; empty if it depends on other columns. */
  Optional<RowRanges> ranges(Expression condition) {
    if (!(condition instanceof Predicate predicate)) {
      return Optional.empty();
    }
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "AND" -> both(children, RowRanges::and);
      case "OR" -> both(children, RowRanges::or);
      case "NOT" ->
          hasNull(children[0])
              ? Optional.empty()
              : ranges(children[0]).map(ranges -> ranges.except(rows));
      case "ALWAYS_TRUE" -> Optional.of(all());
      case "ALWAYS_FALSE" -> Optional.of(RowRanges.NONE);
      case "IS_NOT_NULL" -> isIndex(children[0]) ? Optional.of(all()) : Optional.empty();
      case "IS_NULL" -> isIndex(children[0]) ? Optional.of(RowRanges.NONE) : Optional.empty();
      case "IN" -> in(children);
      case "=", "<=>", "<>", "<", "<=", ">", ">=" -> compared(predicate.name(), children);
      default -> Optional.empty();
    };
  }

  private RowRanges all() {
    return RowRanges.between(0, rows);
  }

  private Optional<RowRanges> both(Expression[] children, BinaryOperator<RowRanges> join) {
    Optional<RowRanges> left = ranges(children[0]);
    return left.isEmpty() ? left : ranges(children[1]).map(right -> join.apply(left.get(), right));
  }

  private Optional<RowRanges> in(Expression... children) {
    long[] values = new long[children.length - 1];
    int count = 0;
    boolean all = isIndex(children[0]);
    for (int i = 1; i < children.length && all; i++) {
      Long value = number(children[i]);
      all = value != null || isNull(children[i]);
      if (value != null) {
        values[count++] = value;
      }
    }
    return all ? Optional.of(RowRanges.of(inside(Arrays.copyOf(values, count)))) : Optional.empty();
  }

  private long[] inside(long... values) {
    return Arrays.stream(values).filter(value -> value >= 0 && value < rows).toArray();
  }

  private RowRanges within(RowRanges ranges) {
    return ranges.and(all());
  }

  private Optional<RowRanges> compared(String operator, Expression... children) {
    if (isIndex(children[0])) {
      return compared(operator, number(children[1]));
    }
    return isIndex(children[1])
        ? compared(mirrored(operator), number(children[0]))
        : Optional.empty();
  }

  private static String mirrored(String operator) {
    return switch (operator) {
      case "<" -> ">";
      case "<=" -> ">=";
      case ">" -> "<";
      case ">=" -> "<=";
      default -> operator;
    };
  }

  private Optional<RowRanges> compared(String operator, Long number) {
    if (number == null) {
      return Optional.empty();
    }
    long value = Math.max(-1, Math.min(number, rows)); // all values out of range are equivalent
    RowRanges equal = within(RowRanges.between(value, value + 1));
    return Optional.of(
        switch (operator) {
          case "<" -> within(RowRanges.between(0, value));
          case "<=" -> within(RowRanges.between(0, value + 1));
          case ">" -> RowRanges.between(value + 1, rows);
          case ">=" -> within(RowRanges.between(Math.max(0, value), rows));
          case "<>" -> equal.except(rows);
          default -> equal;
        });
  }

  private boolean isIndex(Expression expression) {
    return expression instanceof NamedReference reference
        && reference.fieldNames().length == 1
        && columns.contains(reference.fieldNames()[0]);
  }

  private static boolean isNull(Expression expression) {
    return expression instanceof Literal<?> literal && literal.value() == null;
  }

  private static boolean hasNull(Expression expression) {
    return isNull(expression)
        || Arrays.stream(expression.children()).anyMatch(IndexPredicate::hasNull);
  }

  private static Long number(Expression expression) {
    return expression instanceof Literal<?> literal
            && (literal.value() instanceof Long || literal.value() instanceof Integer)
        ? Long.valueOf(((Number) literal.value()).longValue())
        : null;
  }
}
