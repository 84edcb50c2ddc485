// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkConf;
import org.ddstore.LatencyHistogram;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.PeerCalls;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
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
    assertThat(ResidentShards.confirm(token.id(), attempt)).isZero();
  }

  @Test
  void confirmedShardsOutliveTheirLease() {
    Nonce kept = lease(LONGER);
    long bytes = OffHeapBuffer.liveBytes() - bytesBefore;
    assertThat(ResidentShards.memoryBytes()).as("counted by its load so far").isZero();
    assertThat(ResidentShards.confirm(token.id(), kept)).isEqualTo(1);
    lease(LONGER); // ends after the other one
    assertThat(ResidentShards.memoryBytes()).isEqualTo(ROWS * (long) Long.BYTES);
    awaitBytes(bytes);
    assertThat(ResidentShards.counters(token.id()).shards()).isEqualTo(1);
    assertThat(ResidentShards.counters(token.id()).rows()).isEqualTo(ROWS);
  }

  @Test
  void reportsSurviveTheirEncodingAndRefuseTheirTruncation() {
    List<Long> buckets = new ArrayList<>(LatencyHistogram.none().counts());
    buckets.set(0, 5L);
    buckets.set(LatencyHistogram.BUCKETS - 1, Long.MAX_VALUE);
    List<ReadCount> reads = new ArrayList<>(ReadCount.none());
    reads.set(ReadPath.REMOTE.index(), new ReadCount(ReadPath.REMOTE, 1, 2, 3));
    ReaderStatistics rank =
        new ReaderStatistics(
            "rank4095", reads, new LatencyHistogram(buckets), new LoaderTimes(1, 2, 3, 4, 5));
    List<OutsideStatistics> outside = List.of(new OutsideStatistics("l".repeat(64), 1, 2, 3, 4));
    ExecutorCounters report =
        new ExecutorCounters(1, 2, 3, 4, 5, Collections.nCopies(4_098, rank), outside);
    ByteBuffer encoded = report.encode();
    assertThat(encoded.remaining()).isLessThan(PeerCalls.MAX_BYTES);
    assertThat(ExecutorCounters.parse(encoded.duplicate())).isEqualTo(report);

    ByteBuffer small = new ExecutorCounters(1, 2, 3, 4, 5, List.of(rank), outside).encode();
    for (int length = 0; length < small.limit(); length++) {
      ByteBuffer truncated = small.duplicate().limit(length);
      assertThatThrownBy(() -> ExecutorCounters.parse(truncated))
          .isInstanceOf(DDStoreException.class);
    }
  }

  /** An answer may be lost with its connection. */
  @Test
  void confirmIsIdempotent() {
    Nonce attempt = lease(LONG);
    assertThat(ResidentShards.confirm(token.id(), attempt)).isEqualTo(1);
    assertThat(ResidentShards.confirm(token.id(), attempt)).as("the second one").isEqualTo(1);
    assertThat(ResidentShards.counters(token.id()).shards()).isEqualTo(1);
    assertThat(ResidentShards.confirm(token.id(), Nonce.random())).as("of another").isZero();
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
    assertThat(ResidentShards.confirm(token.id(), failed)).isZero();
    assertThat(ResidentShards.confirm(token.id(), next)).isEqualTo(1);
    assertThat(ResidentShards.forget(token.id(), next)).as("also what is confirmed").isTrue();
    assertThat(ResidentShards.counters(token.id()).shards()).isEqualTo(1);
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
    assertThat(ResidentShards.counters(token.id()).shards()).isZero();
    ResidentShards.drop(token.id());
  }
}
