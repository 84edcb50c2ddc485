// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.LiteralValue;
import org.apache.spark.sql.connector.expressions.filter.And;
import org.apache.spark.sql.connector.expressions.filter.Not;
import org.apache.spark.sql.connector.expressions.filter.Or;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rows that conditions on the index select from 100 rows. */
class IndexPredicateTest {
  private static final int ROWS = 100;
  private final IndexPredicate index = new IndexPredicate(Set.of("__index", "i"), ROWS);

  private static Predicate compare(String operator, String column, Object... values) {
    Expression[] children = new Expression[values.length + 1];
    children[0] = Expressions.column(column);
    for (int v = 0; v < values.length; v++) {
      children[v + 1] = literal(values[v]);
    }
    return new Predicate(operator, children);
  }

  /** Spark's own factory makes none of null. */
  private static Expression literal(Object value) {
    return value == null
        ? new LiteralValue<>(null, DataTypes.LongType)
        : Expressions.literal(value);
  }

  private static boolean holds(String operator, long row, long value) {
    return switch (operator) {
      case "=", "<=>" -> row == value;
      case "<>" -> row != value;
      case "<" -> row < value;
      case "<=" -> row <= value;
      case ">" -> row > value;
      default -> row >= value;
    };
  }

  @ParameterizedTest
  @CsvSource({"=", "<=>", "<>", "<", "<=", ">", ">="})
  void comparisonsSelectTheirRows(String operator) {
    for (long value : new long[] {Long.MIN_VALUE, -1, 0, 1, 50, 99, 100, 101, Long.MAX_VALUE}) {
      long[] expected =
          LongStream.range(0, ROWS).filter(row -> holds(operator, row, value)).toArray();
      assertThat(index.ranges(compare(operator, "i", value)))
          .as("i %s %d", operator, value)
          .contains(RowRanges.of(expected));
      Predicate turned =
          new Predicate(
              operator,
              new Expression[] {Expressions.literal(value), Expressions.column("__index")});
      long[] mirrored =
          LongStream.range(0, ROWS).filter(row -> holds(operator, value, row)).toArray();
      assertThat(index.ranges(turned))
          .as("%d %s __index", value, operator)
          .contains(RowRanges.of(mirrored));
    }
  }

  @Test
  void combinesListsWithAndOrNot() {
    assertThat(index.ranges(compare("IN", "i", 5L, -3L, 99L, 5L, 100L, 6L)))
        .contains(RowRanges.of(5, 6, 99));
    Predicate low = compare("<", "i", 10L);
    Predicate high = compare(">=", "i", 95L);
    assertThat(index.ranges(new Or(low, high)))
        .contains(RowRanges.between(0, 10).or(RowRanges.between(95, 100)));
    assertThat(index.ranges(new And(low, compare(">", "i", 7L)))).contains(RowRanges.of(8, 9));
    assertThat(index.ranges(new Not(low))).contains(RowRanges.between(10, 100));
    assertThat(index.ranges(new Not(new And(low, high)))).contains(RowRanges.between(0, 100));
  }

  @Test
  void nullsInAListSelectNoRow() {
    Predicate list = compare("IN", "i", 5L, null, 99L);
    Predicate low = compare("<", "i", 10L);
    assertThat(index.ranges(list)).contains(RowRanges.of(5, 99));
    assertThat(index.ranges(compare("IN", "i", (Object) null))).contains(RowRanges.NONE);
    assertThat(index.ranges(new And(list, low))).contains(RowRanges.of(5));
    assertThat(index.ranges(new Or(list, low)))
        .contains(RowRanges.between(0, 10).or(RowRanges.of(99)));
    assertThat(
            Arrays.asList(
                index.ranges(new Not(list)),
                index.ranges(new Not(new Or(low, new Not(list)))),
                index.ranges(new And(low, new Not(new And(low, list))))))
        .as("below NOT unknown is not false")
        .containsOnly(Optional.empty());
  }

  @Test
  void inexactConditionsStayWithSpark() {
    Predicate other = compare("=", "label", 5L);
    Predicate low = compare("<", "i", 10L);
    assertThat(
            Arrays.asList(
                index.ranges(other),
                index.ranges(new And(low, other)),
                index.ranges(new Or(other, low)),
                index.ranges(new Not(other)),
                index.ranges(compare("<", "i", 10.5)),
                index.ranges(compare("IN", "i", 10L, "eleven")),
                index.ranges(compare("STARTS_WITH", "i", 1L))))
        .containsOnly(Optional.empty());
  }
}
