// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Conditions on the index select the rows that Spark itself would select, and those that a store
 * can answer alone read no others.
 */
@Tag("system")
@Timeout(300)
class SourceConditionsTest extends SourceOnCluster {
  private static final int ROWS = 1_000;
  private static final int CONDITIONS = 30;

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  /** Row i is (i, i % 7). */
  @BeforeEach
  void load() {
    numbers().write().format("ddstore").option("ranks", "2").save("n");
    spark.sql(
        "create or replace temporary view v using ddstore options (name 'n', indexColumn 'idx')");
  }

  private Dataset<Row> numbers() {
    return spark.range(ROWS).selectExpr("id", "cast(id % 7 as int) as label");
  }

  /**
   * A condition.
   *
   * @param isOfIndex whether it asks for the index alone, by whole numbers
   */
  private record Condition(String sql, boolean isOfIndex) {
    Condition and(String operator, Condition other) {
      return new Condition(
          "(%s %s %s)".formatted(sql, operator, other.sql), isOfIndex && other.isOfIndex);
    }
  }

  private record Conditions(Random random, String index) {
    Condition any(int depth) {
      return switch (depth == 0 ? 0 : random.nextInt(5)) {
        case 1 -> any(depth - 1).and("and", any(depth - 1));
        case 2 -> any(depth - 1).and("or", any(depth - 1));
        case 3 -> {
          Condition inner = any(depth - 1);
          yield new Condition("not " + inner.sql(), inner.isOfIndex());
        }
        default -> atom();
      };
    }

    private Condition atom() {
      return switch (random.nextInt(10)) {
        case 0 -> whole("%s in (%s)".formatted(index, list()));
        case 1 -> whole("%s not in (%s)".formatted(index, list()));
        case 2 -> whole("%s between %s and %s".formatted(index, number(), number()));
        case 3 -> whole("%s %s %s".formatted(number(), operator(), index));
        case 4 -> whole(index + (random.nextBoolean() ? " is null" : " is not null"));
        case 5 -> new Condition("label = " + random.nextInt(8), false);
        case 6 -> new Condition("%s %s %s".formatted(index, operator(), other()), false);
        case 7 -> new Condition("%s in (%s, null)".formatted(index, list()), false);
        default -> whole("%s %s %s".formatted(index, operator(), number()));
      };
    }

    private static Condition whole(String sql) {
      return new Condition(sql, true);
    }

    private String operator() {
      List<String> all = List.of("=", "<=>", "<>", "<", "<=", ">", ">=");
      return all.get(random.nextInt(all.size()));
    }

    /** Around the borders of the rows and of the shards, and far outside. */
    private String number() {
      long[] near = {0, ROWS / 2, ROWS, random.nextInt(ROWS), random.nextInt(ROWS)};
      long value = near[random.nextInt(near.length)] + random.nextInt(-2, 3);
      return switch (random.nextInt(12)) {
        case 0 -> "-9223372036854775808L";
        case 1 -> "9223372036854775807L";
        case 2 -> "100000000000";
        case 3, 4, 5 -> value + "L";
        default -> Long.toString(value);
      };
    }

    private String list() {
      return IntStream.range(0, 1 + random.nextInt(25))
          .mapToObj(i -> number())
          .collect(Collectors.joining(", "));
    }

    /** Returns a literal that Spark casts, or to whose type it casts the index. */
    private String other() {
      String value = Integer.toString(random.nextInt(ROWS));
      return switch (random.nextInt(6)) {
        case 0 -> "'" + value + "'";
        case 1 -> value + ".5";
        case 2 -> value + "BD";
        case 3 -> value + ".25D";
        case 4 -> "null";
        default -> "label + " + value;
      };
    }
  }

  @Test
  void conditionsSelectTheRowsThatSparkSelects() {
    conditionsSelectTheRowsThatSparkSelects("idx");
  }

  @Test
  @Tag("slow")
  void conditionsOnTheDefaultIndexSelectTheRowsThatSparkSelects() {
    conditionsSelectTheRowsThatSparkSelects("__index");
  }

  private void conditionsSelectTheRowsThatSparkSelects(String index) {
    long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
    Conditions random = new Conditions(new Random(seed), index);
    List<Condition> conditions =
        IntStream.range(0, CONDITIONS).mapToObj(i -> random.any(1 + i % 3)).toList();
    List<List<Long>> expected = selectedBySpark(conditions, index);
    String table = index.equals("idx") ? "v" : "ddstore.n";
    for (int i = 0; i < CONDITIONS; i++) {
      Condition condition = conditions.get(i);
      String where = " from %s where %s".formatted(table, condition.sql());
      Dataset<Row> query = spark.sql("select id" + where);
      List<Long> ids = query.collectAsList().stream().map(row -> row.getLong(0)).toList();
      assertThat(ids)
          .as("seed %d: %s", seed, condition.sql())
          .containsExactlyInAnyOrderElementsOf(expected.get(i));
      if (condition.isOfIndex()) {
        assertThat(rowsRead(query))
            .as("rows read, seed %d: %s", seed, condition.sql())
            .isEqualTo(expected.get(i).size());
        assertCountReadsNothing(spark.sql("select count(*)" + where), expected.get(i).size());
      }
    }
  }

  /** The ids of each condition, computed as columns of a DataFrame that no store has a part in. */
  private List<List<Long>> selectedBySpark(List<Condition> conditions, String index) {
    List<String> columns = new ArrayList<>(List.of("id"));
    conditions.forEach(condition -> columns.add("coalesce(%s, false)".formatted(condition.sql())));
    List<Row> rows =
        numbers()
            .withColumn(index, functions.col("id"))
            .selectExpr(columns.toArray(new String[0]))
            .collectAsList();
    return IntStream.range(1, columns.size())
        .mapToObj(i -> rows.stream().filter(row -> row.getBoolean(i)).map(row -> row.getLong(0)))
        .map(ids -> ids.toList())
        .toList();
  }

  /** None, where Spark knows that there are no rows. */
  private static long rowsRead(Dataset<Row> query) {
    return query.queryExecution().executedPlan().toString().contains("BatchScan")
        ? metric(query, "ddstoreRows")
        : 0;
  }

  private static void assertCountReadsNothing(Dataset<Row> query, long count) {
    assertThat(query.collectAsList()).hasToString("[[" + count + "]]");
    assertThat(query.queryExecution().executedPlan().toString()).doesNotContain("BatchScan");
  }

  @Test
  void longListsReadOnlyTheirRows() {
    Long[] wanted = LongStream.range(-500, 3_500).map(i -> i * 3).boxed().toArray(Long[]::new);
    long there = Arrays.stream(wanted).filter(i -> i >= 0 && i < ROWS).count();
    Dataset<Row> query =
        read("n").where(functions.col("__index").isin((Object[]) wanted)).select("id");
    assertThat(query.collectAsList()).hasSize((int) there).allMatch(row -> row.getLong(0) % 3 == 0);
    assertThat(rowsRead(query)).isEqualTo(there);
  }

  @Test
  void limitsReadOnlyTheirRows() {
    for (String query :
        List.of(
            "select id from ddstore.n limit 11",
            "select id from ddstore.n where __index >= 500 limit 11",
            "select id from ddstore.n limit 8 offset 3",
            "select id from v where idx between 1 and 11 limit 100")) {
      Dataset<Row> rows = spark.sql(query);
      int expected = query.contains("offset") ? 8 : 11;
      assertThat(rows.collectAsList()).as(query).hasSize(expected);
      assertThat(rowsRead(rows)).as(query).isEqualTo(11);
    }
    assertThat(spark.sql("select id from ddstore.n where label = 3 limit 5").collectAsList())
        .hasSize(5);
    assertThat(spark.sql("select id from ddstore.n order by __index desc limit 2").collectAsList())
        .hasToString("[[999], [998]]");
    assertThat(spark.sql("select count(*) from (select * from v limit 10)").collectAsList())
        .hasToString("[[10]]");
    spark
        .conf()
        .set(
            "spark.sql.optimizer.excludedRules",
            "org.apache.spark.sql.catalyst.optimizer.EliminateLimits");
    try {
      assertCountReadsNothing(spark.sql("select count(*) from ddstore.n limit 5"), ROWS);
    } finally {
      spark.conf().unset("spark.sql.optimizer.excludedRules");
    }
  }

  @Test
  void indexWorksLikeAnyOtherColumn() {
    assertThat(
            spark
                .sql(
                    "select a.id, b.__index from ddstore.n a join v c on a.__index = c.idx + 1 join"
                        + " ddstore.n b on b.__index = a.__index where a.label = 0 and c.id > 990")
                .collectAsList())
        .hasToString("[[994,994]]");
    assertThat(
            spark
                .sql("select id from ddstore.n where __INDEX = (select max(IDX) - 1 from v)")
                .collectAsList())
        .hasToString("[[998]]");
    assertThat(
            spark
                .sql("select sum(__index), max(__index % 7 - label) from ddstore.n")
                .collectAsList())
        .hasToString("[[499500,0]]");
    assertThat(spark.table("ddstore.n").columns()).containsExactly("id", "label");
  }

  @Test
  void aSampleReadsItsRowsAlone() {
    spark.range(1_000_000).write().format("ddstore").option("ranks", "2").save("million");
    Dataset<Row> sample = DDStores.open(spark, "million").sample(1_000, 7).select("id", "__index");
    List<Row> rows = sample.collectAsList();
    assertThat(rows).doesNotHaveDuplicates().hasSize(1_000);
    assertThat(rows).allMatch(row -> row.getLong(0) == row.getLong(1));
    assertThat(rowsRead(sample)).as("rows read of 1,000,000").isEqualTo(1_000);
    assertThat(metric(sample, "ddstoreBytes")).as("bytes read").isEqualTo(1_000 * Long.BYTES);
  }

  @Test
  void aSampleHasRowsOfTheStore() {
    ResidentStore store = DDStores.open(spark, "n");
    List<Row> all = spark.table("ddstore.n").collectAsList();
    List<Row> sample = store.sample(50, 7).collectAsList();
    assertThat(sample).hasSize(50).doesNotHaveDuplicates();
    assertThat(all).containsAll(sample);

    assertThat(store.sample(50, 7).collectAsList()).as("the same seed").isEqualTo(sample);
    assertThat(store.sample(50, 8).collectAsList()).as("another seed").isNotEqualTo(sample);
    assertThat(store.sample(50).collectAsList()).as("a new seed").isNotEqualTo(sample);
    assertThat(store.sample(ROWS).collectAsList()).hasSize(ROWS).containsAll(all);
    assertThat(store.sample(0).collectAsList()).isEmpty();
    assertThat(store.sample(0).schema()).isEqualTo(store.sourceSchema());
    assertThat(DDStores.open(spark.newSession(), "n").sample(1).sparkSession())
        .as("session of a sample")
        .isSameAs(spark);
    assertCountReadsNothing(store.sample(50).groupBy().count(), 50);
    assertThat(store.sample(500, 1).where("__index < 500").where("label = 3").collectAsList())
        .isEqualTo(
            store.sample(500, 1).collectAsList().stream()
                .filter(row -> row.getLong(0) < 500 && row.getInt(1) == 3)
                .toList());
  }

  @Test
  void optionsSampleToo() {
    List<Row> sample = DDStores.open(spark, "n").sample(50, 7).collectAsList();
    assertThat(
            spark
                .read()
                .format("ddstore")
                .option("sample", "50")
                .option("sampleSeed", "7")
                .load("n")
                .collectAsList())
        .isEqualTo(sample);
    spark.sql(
        "create or replace temporary view s using ddstore"
            + " options (name 'n', sample '50', sampleSeed '7')");
    assertThat(spark.sql("select * from s").collectAsList()).isEqualTo(sample);
    assertThatThrownBy(() -> spark.read().format("ddstore").option("sample", "1001").load("n"))
        .hasMessage("sample of 1,001 rows of store \"n\", outside [0, 1,000]");
  }

  @Test
  void aSampleIsOfTheRowsAtItsCall() {
    ResidentStore store = DDStores.open(spark, "n");
    Dataset<Row> sample = store.sample(50, 7);
    List<Row> before = sample.collectAsList();
    store.append(numbers());
    assertThat(sample.where("id >= 0").collectAsList()).isEqualTo(before);
    assertThat(store.sample(2 * ROWS).collectAsList()).hasSize(2 * ROWS);
    assertThatThrownBy(() -> store.sample(2 * ROWS + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("sample of 2,001 rows of store \"n\", outside [0, 2,000]");
    assertThatThrownBy(() -> store.sample(-1)).isInstanceOf(IllegalArgumentException.class);
    store.drop();
    assertThatThrownBy(() -> store.sample(1)).isInstanceOf(IllegalStateException.class);
    assertThat(store.toString())
        .startsWith("ResidentStore[n: 2,000 rows, 2 ranks, ")
        .endsWith(", dropped]");
  }
}
