// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stores of several users in one application, as in a Thrift or Spark Connect server. */
@Timeout(300)
class StoreOwnerTest {
  private static final String TAGS = "spark.job.tags";

  private final SparkSession spark = LocalSpark.session();
  private final SparkContext context = spark.sparkContext();
  private final Dataset<Row> rows = spark.range(10).toDF();

  @AfterEach
  void dropAll() {
    context.setLocalProperty(TAGS, null);
    CurrentUserContext.CURRENT_USER().remove();
    for (ResidentStore store : DDStores.list(spark)) {
      workFor(store.owner());
      store.drop();
    }
    context.setLocalProperty(TAGS, null);
  }

  /** As the thread of an operation of Spark Connect does. */
  private void workFor(String user) {
    context.setLocalProperty(
        TAGS, "mine,SparkConnect_OperationTag_User_" + user + "_Session_s-1_Operation_o-1");
  }

  private ResidentStore loadFor(String user) {
    workFor(user);
    return DDStores.from(rows).ranks(1).load("train");
  }

  @Test
  void otherUsersMayReadButNotChangeAStore() {
    ResidentStore store = loadFor("alice");
    assertThat(store.owner()).isEqualTo("alice");
    workFor("bob");
    Map<String, ThrowingCallable> changes = new TreeMap<>();
    changes.put("drop", store::drop);
    changes.put("drop ", () -> spark.sql("drop table ddstore.train"));
    changes.put("append to", () -> store.append(rows));
    changes.put("append to ", () -> spark.sql("insert into ddstore.train select 11L"));
    changes.put("replace", () -> store.replace(rows));
    changes.put("replace ", () -> spark.sql("insert overwrite ddstore.train select 11L"));
    changes.put("replace  ", () -> DDStores.from(rows).ranks(1).replace("train"));
    changes.put("repair", store::repair);
    changes.forEach(
        (change, action) ->
            assertThatThrownBy(action)
                .as(change)
                .isInstanceOf(DDStoreException.class)
                .hasMessage(
                    "user \"bob\" cannot %s store \"train\" of user \"alice\": ask the owner, or start the application with spark.ddstore.ownerCheck=false",
                    change.strip()));
    assertThat(spark.table("ddstore.train").count()).isEqualTo(10);

    workFor("alice");
    spark.sql("insert into ddstore.train select 11L");
    assertThat(store.rows()).isEqualTo(11);
  }

  /** As in a server whose clients choose their names. */
  @Test
  void nameThatImitatesATagIsAnotherUser() {
    ResidentStore store = loadFor("alice");
    String imitation = "alice_Session_s-2_Operation_o-2";
    workFor(imitation);

    assertThatThrownBy(store::drop)
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith(
            "user \"%s\" cannot drop store \"train\" of user \"alice\"".formatted(imitation));
  }

  @Test
  void sessionSettingsDoNotDisableTheCheck() {
    ResidentStore store = loadFor("alice");
    workFor("bob");
    spark.conf().set("spark.ddstore.ownerCheck", "false");
    try {
      assertThatThrownBy(store::drop).isInstanceOf(DDStoreException.class);
    } finally {
      spark.conf().unset("spark.ddstore.ownerCheck");
    }
  }

  @Test
  void ownerIsTheUserOfTheThriftServerOrOfHadoop() throws Exception {
    CurrentUserContext.CURRENT_USER().set("carol"); // by the operation of a Thrift server
    assertThat(DDStores.from(rows).ranks(1).load("carols").owner()).isEqualTo("carol");
    CurrentUserContext.CURRENT_USER().remove();

    assertThat(DDStores.from(rows).ranks(1).load("own").owner())
        .isEqualTo(UserGroupInformation.getCurrentUser().getShortUserName());
    String proxied =
        UserGroupInformation.createRemoteUser("dave")
            .doAs(
                (java.security.PrivilegedExceptionAction<String>)
                    () -> DDStores.from(rows).ranks(1).load("daves").owner());
    assertThat(proxied).isEqualTo("dave");
  }
}
