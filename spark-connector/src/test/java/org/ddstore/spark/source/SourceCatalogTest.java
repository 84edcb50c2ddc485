// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.AnalysisException;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stores as tables of the catalog, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceCatalogTest extends SourceOnCluster {
  @BeforeAll
  static void start() {
    start(2, 2);
  }

  @Test
  void sqlCreatesFillsAndDropsStores() {
    labelled().createOrReplaceTempView("numbers");
    spark.sql("create table ddstore.t options (ranks 2, orderBy 'value') as select * from numbers");
    assertThat(DDStores.open(spark, "t").ranks()).isEqualTo(2);
    assertSame(spark.table("ddstore.t"), labelled());
    Map<String, String> shown = new HashMap<>();
    spark
        .sql("show tblproperties ddstore.t")
        .collectAsList()
        .forEach(row -> shown.put(row.getString(0), row.getString(1)));
    ResidentStore store = DDStores.open(spark, "t");
    assertThat(shown)
        .containsEntry("rows", Long.toString(store.rows()))
        .containsEntry("bytes", Long.toString(store.bytes()))
        .containsEntry("ranks", "2")
        .containsEntry("width", "2")
        .containsEntry("backing", "shm")
        .containsKeys("transport", "created", "age");
    assertThat(shown.get("places")).startsWith("executor ").contains("rank");
    assertThat(spark.sql("describe table extended ddstore.t").collectAsList())
        .anySatisfy(row -> assertThat(row).asString().startsWith("[Owner," + store.owner()))
        .anySatisfy(row -> assertThat(row).asString().contains("backing=shm", "ranks=2"));
    assertThat(spark.sql("show create table ddstore.t").first().getString(0))
        .startsWith("CREATE TABLE ddstore.t");
    spark.sql("insert into ddstore.t select -1L, 2, 3.5f");
    assertThat(spark.sql("select * from ddstore.t where __index = " + LABELLED).collectAsList())
        .hasToString("[[-1,2,3.5]]");
    spark.sql("insert overwrite ddstore.t select * from numbers where id < 10");
    assertThat(read("t").count()).isEqualTo(10);
    spark.sql("create or replace table ddstore.t as select 'text' as a");
    assertThat(read("t").collectAsList()).hasToString("[[text]]");
    spark.range(5).writeTo("ddstore.u").option("ranks", "1").createOrReplace();
    assertThat(spark.sql("show tables in ddstore").select("tableName").collectAsList())
        .hasToString("[[t], [u]]");
    assertThatThrownBy(() -> spark.sql("create table ddstore.t as select 1"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("already exists");
    assertThatThrownBy(() -> spark.sql("create table ddstore.w (a int)"))
        .hasMessageContaining("a store is created from rows: use CREATE TABLE ddstore.w AS SELECT");
    spark.sql("drop table ddstore.t");
    spark.sql("drop table ddstore.u");
    assertThat(DDStores.list(spark)).isEmpty();
  }

  @Test
  void tablesOfTheCatalogAreStores() {
    spark.sql("create table ddstore.a using ddstore as select 1 as id");
    spark.range(3).write().saveAsTable("ddstore.b"); // gives the session's provider by itself
    spark.range(3).write().format("ddstore").saveAsTable("ddstore.c");
    spark.sql("create table ddstore.d comment 'four' as select 1 as id");
    assertThat(DDStores.list(spark)).hasSize(4);
    assertThatThrownBy(() -> spark.sql("create table ddstore.e using orc as select 1 as id"))
        .hasMessageContaining(
            "tables of catalog \"ddstore\" are stores, not \"orc\": remove USING");
    String location = "a store is kept in executor memory, not at \"file:/x\": remove LOCATION";
    for (String where : List.of("location '/x'", "options (path '/x')")) {
      assertThatThrownBy(() -> spark.sql("create table ddstore.e " + where + " as select 1 as id"))
          .as(where)
          .hasMessageContaining(location);
      assertThatThrownBy(
              () -> spark.sql("create or replace table ddstore.a " + where + " as select 2 as id"))
          .as(where)
          .hasMessageContaining(location);
    }
    assertThatThrownBy(() -> spark.range(3).write().option("path", "/x").saveAsTable("ddstore.e"))
        .hasMessageContaining(location);
    assertThat(read("a").collectAsList()).hasToString("[[1]]");
    assertThat(DDStores.list(spark)).hasSize(4);
  }

  /** Also in a session that no call has prepared, and after a drop. */
  @Test
  void aQueryOfAMissingStoreNamesTheKnownOnes() {
    for (String query :
        List.of("select * from ddstore.trian", "insert into ddstore.trian select 1L")) {
      assertThatThrownBy(() -> spark.newSession().sql(query))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("no store \"trian\" in this application; known stores: []");
    }
    spark.range(3).write().format("ddstore").save("train");
    assertThat(spark.newSession().table("ddstore.train").count()).isEqualTo(3);
    assertThatThrownBy(() -> spark.newSession().table("ddstore.trian"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no store \"trian\" in this application; known stores: [train]");
    assertThat(spark.catalog().tableExists("ddstore.trian")).isFalse();
    assertThatThrownBy(() -> spark.table("ddstore.db.train")).isInstanceOf(AnalysisException.class);
    spark.sql("drop table ddstore.train");
    assertThatThrownBy(() -> spark.table("ddstore.train"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no store \"train\" in this application; known stores: []");
  }

  @Test
  void dropOfAMissingStoreIsRefused() {
    spark.sql("drop table if exists ddstore.none");
    assertThatThrownBy(() -> spark.sql("drop table ddstore.none"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("none");
    spark.range(3).write().format("ddstore").save("there");
    spark.sql("drop table if exists ddstore.there");
    assertThat(DDStores.list(spark)).isEmpty();
  }
}
