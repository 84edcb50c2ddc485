// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.apache.spark.SparkConf;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lifetimes of shards that are leased, confirmed, forgotten and dropped. */
@Timeout(120)
class ResidentShardsTest {
  private static final Duration SHORT = Duration.ofMillis(50);

  /** Enough to confirm in, on a machine that does other work too. */
  private static final Duration LONGER = Duration.ofSeconds(5);

  private static final Duration LONG = Duration.ofHours(1);
  private static final int ROWS = 3;

  private final StoreToken token = StoreToken.random();
  private final WireOptions wire = WireOptions.of(new SparkConf(false), null, "127.0.0.1");
  private long bytesBefore;

  @BeforeEach
  void measure() {
    bytesBefore = OffHeapBuffer.liveBytes();
  }

  @AfterEach
  void assertNothingLeft() {
    ResidentShards.drop(token.id());
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesBefore);
  }

  private static Shard shard() {
    ShardWriter writer =
        ShardWriter.create(
            Schema.of(Field.fixed("id", DType.INT64)),
            StoreOptions.defaults().backing(Backing.DIRECT));
    for (long row = 0; row < ROWS; row++) {
      writer.append(new long[] {row});
    }
    return Shard.seal(writer, null);
  }

  private Nonce lease(Duration lease) {
    Nonce attempt = Nonce.random();
    ResidentShards.lease(token, wire, attempt, shard(), Backing.DIRECT);
    ResidentShards.beginLease(token.id(), attempt, lease);
    return attempt;
  }

  private void awaitBytes(long bytes) {
    await("memory is freed")
        .atMost(Duration.ofSeconds(30))
        .until(() -> OffHeapBuffer.liveBytes() == bytesBefore + bytes);
  }

  @Test
  void unconfirmedShardsEndWithTheirLease() {
    Nonce attempt = lease(SHORT);
    awaitBytes(0);
    assertThat(ResidentShards.confirm(token.id(), attempt)).isFalse();
  }

  @Test
  void confirmedShardsOutliveTheirLease() {
    Nonce kept = lease(LONGER);
    long bytes = OffHeapBuffer.liveBytes() - bytesBefore;
    assertThat(ResidentShards.memoryBytes()).as("counted by its load so far").isZero();
    assertThat(ResidentShards.confirm(token.id(), kept)).isTrue();
    lease(LONGER); // ends after the other one
    assertThat(ResidentShards.memoryBytes()).isEqualTo(ROWS * (long) Long.BYTES);
    awaitBytes(bytes);
    assertThat(ResidentShards.summary(token.id()).shards()).isEqualTo(1);
    assertThat(ResidentShards.summary(token.id()).rows()).isEqualTo(ROWS);
  }

  /** An answer may be lost with its connection. */
  @Test
  void confirmIsIdempotent() {
    Nonce attempt = lease(LONG);
    assertThat(ResidentShards.confirm(token.id(), attempt)).isTrue();
    assertThat(ResidentShards.confirm(token.id(), attempt)).as("the second one").isTrue();
    assertThat(ResidentShards.summary(token.id()).shards()).isEqualTo(1);
    assertThat(ResidentShards.confirm(token.id(), Nonce.random())).as("of another").isFalse();
  }

  @Test
  void freesTheLeasesOfEarlierAttempts() {
    Nonce kept = lease(LONG);
    ResidentShards.confirm(token.id(), kept);
    long bytes = OffHeapBuffer.liveBytes() - bytesBefore;
    Nonce failed = lease(LONG);
    Nonce next = lease(LONG);
    ResidentShards.forgetOthers(token.id(), next);
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesBefore + 2 * bytes);
    assertThat(ResidentShards.confirm(token.id(), failed)).isFalse();
    assertThat(ResidentShards.confirm(token.id(), next)).isTrue();
    assertThat(ResidentShards.forget(token.id(), next)).as("also what is confirmed").isTrue();
    assertThat(ResidentShards.summary(token.id()).shards()).isEqualTo(1);
  }

  @Test
  void dropFreesEverything() {
    ResidentShards.confirm(token.id(), lease(LONG));
    lease(LONG);
    assertThat(ResidentShards.beginDrop(token.id())).as("the first caller drops it").isTrue();
    assertThat(ResidentShards.beginDrop(token.id())).as("later callers wait").isFalse();
    ResidentShards.drop(token.id());
    assertThat(ResidentShards.beginDrop(token.id())).as("there is nothing").isFalse();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesBefore);
    assertThat(ResidentShards.summary(token.id()).shards()).isZero();
    ResidentShards.drop(token.id());
  }
}
