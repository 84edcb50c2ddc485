// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * A program of a user who passes the runtime jar by {@code --jars} and compiles against none of its
 * classes: writes, reads, SQL. Throws if a value differs from the written one; otherwise the last
 * line is {@code equal}.
 */
public final class RoundTripProgram {
  private RoundTripProgram() {}

  /** Takes the number of rows. */
  public static void main(String[] arguments) {
    SparkSession spark = SparkSession.builder().getOrCreate();
    spark.sparkContext().setLogLevel("WARN");
    try {
      run(spark, Long.parseLong(arguments[0]));
      System.out.println("equal");
    } finally {
      spark.stop();
    }
  }

  /** Runs it in a session that the caller stops. */
  public static void run(SparkSession spark, long rows) {
    Dataset<Row> source = EveryType.frame(spark, rows);
    source.write().format("ddstore").options(EveryType.writeOptions()).save("every");
    Dataset<Row> back = spark.read().format("ddstore").load("every");
    check(back.schema().equals(source.schema()), back.schema().treeString());
    check(EveryType.differences(source, back).isEmpty(), "rows are missing or wrong");
    modes(spark);
    sql(spark, rows);
  }

  private static void modes(SparkSession spark) {
    Dataset<Row> ten = spark.range(10).toDF();
    for (SaveMode mode : SaveMode.values()) {
      String name = "mode-" + mode;
      ten.write().format("ddstore").mode(mode).option("name", name).save();
      check(count(spark, name) == 10, mode + " of a new store");
    }
    ten.limit(5).write().format("ddstore").mode("overwrite").save("mode-Overwrite");
    check(count(spark, "mode-Overwrite") == 5, "overwrite");
    ten.write().format("ddstore").mode("append").save("mode-Append");
    check(count(spark, "mode-Append") == 20, "append");
    ten.limit(5).write().format("ddstore").mode("ignore").save("mode-Ignore");
    check(count(spark, "mode-Ignore") == 10, "ignore");
    try {
      ten.write().format("ddstore").mode("errorifexists").save("mode-ErrorIfExists");
      throw new IllegalStateException("a store was written twice");
    } catch (IllegalArgumentException expected) {
      check(expected.getMessage().contains("already exists"), expected.getMessage());
    }
  }

  private static long count(SparkSession spark, String name) {
    return spark.read().format("ddstore").load(name).count();
  }

  private static void sql(SparkSession spark, long rows) {
    check(one(spark, "select count(*) from ddstore.every").equals(rows), "count(*)");
    check(
        one(spark, "select sum(id) from ddstore.every where __index between 3 and 5").equals(12L),
        "between");
    check(one(spark, "select id from ddstore.every where __index = 7").equals(7L), "one row");
    spark.sql("create temporary view v using ddstore options (name 'every', indexColumn 'idx')");
    check(one(spark, "select sum(id - idx) from v where idx in (1, 5, 9)").equals(0L), "view");
    check(
        one(spark, "select sum(id) from ddstore.every where __index in (3, null)").equals(3L),
        "a list with null");
    spark.sql(
        "create table ddstore.small options (ranks 1, orderBy 'id') as select id from"
            + " ddstore.every");
    spark.sql("insert into ddstore.small select 1L");
    check(one(spark, "select count(*) from ddstore.small").equals(rows + 1), "insert into");
    spark.sql("insert overwrite ddstore.small select id from ddstore.every order by -id limit 3");
    check(one(spark, "select count(*) from ddstore.small").equals(3L), "insert overwrite");
    check(
        one(spark, "select id from ddstore.small where __index = 0").equals(rows - 3),
        "insert overwrite has lost the order of the store");
    refusals(spark);
    List<Row> tables = spark.sql("show tables in ddstore").collectAsList();
    check(tables.size() == 6, tables.toString());
    tables.forEach(table -> spark.sql("drop table ddstore.`" + table.getString(1) + "`"));
    check(spark.sql("show tables in ddstore").isEmpty(), "drop table");
  }

  /** Releases differ in what they say of a table that is made, and of a scan. */
  private static void refusals(SparkSession spark) {
    refused(
        () -> spark.read().option("indexColumn", "i").table("ddstore.small").collectAsList(),
        "option \"indexColumn\" is \"i\"");
    refused(
        () -> spark.sql("create table ddstore.there location '/x' as select 1 as id"),
        "\"file:/x\"");
    refused(() -> spark.sql("create table ddstore.there using orc as select 1 as id"), "\"orc\"");
    spark.sql("create table ddstore.there using ddstore as select 1 as id");
    spark.range(3).write().mode("overwrite").saveAsTable("ddstore.there");
    check(one(spark, "select count(*) from ddstore.there").equals(3L), "saveAsTable");
    spark.sql("drop table ddstore.there");
  }

  private static void refused(Runnable statement, String what) {
    try {
      statement.run();
    } catch (IllegalArgumentException expected) {
      check(expected.getMessage().contains(what), expected.getMessage());
      return;
    }
    throw new IllegalStateException("not refused: " + what);
  }

  private static Object one(SparkSession spark, String query) {
    return spark.sql(query).collectAsList().get(0).get(0);
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
