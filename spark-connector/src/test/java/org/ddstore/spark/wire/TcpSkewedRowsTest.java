// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.StoreAccess;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.wire.rows.GatherRequest;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory that it takes to read remote rows of which a few have nearly all bytes. */
@Timeout(120)
class TcpSkewedRowsTest {
  private static final int SMALL = 60_000;
  private static final int LARGE = 100;
  private static final int LARGE_BYTES = 1 << 20;
  private static final int PREFIX_BYTES = 2 * Integer.BYTES;
  private static final long WINDOW_BYTES = 32 << 20;

  private TcpRanks ranks;
  private Variable rows;
  private long before;

  /** Rank 1 has all rows, rank 0 reads. */
  @BeforeEach
  void start() throws Exception {
    ranks = new TcpRanks(2, TcpSkewedRowsTest::add);
    rows = ranks.store(0).variable("x");
    before = OffHeapBuffer.liveBytes();
  }

  private static void add(DDStore store) {
    ShardWriter shard =
        ShardWriter.create(
            Schema.of(Field.fixed("id", DType.INT32), Field.bytes("data")),
            StoreOptions.defaults().backing(Backing.DIRECT));
    for (int row = 0; store.rank() == 1 && row < SMALL + LARGE; row++) {
      shard.append(row, new byte[row < SMALL ? 0 : LARGE_BYTES]);
    }
    store.add("x", shard);
  }

  @AfterEach
  void stop() {
    assertThat(OffHeapBuffer.liveBytes()).as("live bytes").isEqualTo(before);
    ranks.close();
  }

  private long live() {
    return OffHeapBuffer.liveBytes() - before;
  }

  @Test
  void copyStaysWithinTheWindow() {
    AtomicLong next = new AtomicLong();
    AtomicLong most = new AtomicLong();
    StoreAccess.copy(
        rows,
        0,
        rows.rows(),
        record -> {
          long row = next.getAndIncrement();
          most.accumulateAndGet(live(), Math::max);
          assertThat(record.getInt(record.position())).isEqualTo((int) row);
          assertThat(record.remaining()).isEqualTo(PREFIX_BYTES + (row < SMALL ? 0 : LARGE_BYTES));
        });
    assertThat(next).hasValue(rows.rows());
    assertThat(most.get()).isBetween(WINDOW_BYTES / 2, WINDOW_BYTES);
  }

  /**
   * Windows follow the rows: neither is each small row a request, nor are lengths asked in vain.
   */
  @Test
  void copyTakesFewRequests() {
    long requests = ranks.session(1).servedRequests();
    StoreAccess.copy(rows, 0, rows.rows(), record -> {});
    long data = (LARGE * (long) LARGE_BYTES) / GatherRequest.CHANNEL_PIECE_BYTES;
    assertThat(ranks.session(1).servedRequests() - requests).isLessThan(data + 80);
  }

  @Test
  void oneFieldOfLargeRecordsStaysWithinTheWindow() {
    long[] large = LongStream.range(SMALL, SMALL + LARGE).toArray();
    int[] ids = new int[LARGE];
    try (Reader reader = rows.reader("id")) {
      reader.getBatch(Tensor.wrap(ids), large);
      assertThat(reader.workingBytes()).isBetween(WINDOW_BYTES / 2, WINDOW_BYTES);
    }
    assertThat(ids).containsExactly(LongStream.of(large).mapToInt(row -> (int) row).toArray());
  }

  /** Batches that together need more than a window are read one by one. */
  @Test
  void readsBatchesThatExceedTheWindowOneByOne() {
    long[] some = LongStream.range(SMALL, SMALL + 20).toArray();
    try (Reader reader = rows.reader();
        Reader other = rows.reader();
        Batch one = reader.getBatch();
        Batch two = other.getBatch()) {
      reader.getBatches(
          List.of(one, two),
          List.of(some, LongStream.range(0, 30).map(row -> SMALL + 20 + row).toArray()));
      assertThat(one.rows()).isEqualTo(20);
      assertThat(two.rows()).isEqualTo(30);
      assertThat(two.field("id").getLong(29)).isEqualTo(SMALL + 49);
      assertThat(two.bytes("data", 29)).isEqualTo(ByteBuffer.allocate(LARGE_BYTES).array());
      assertThat(reader.workingBytes()).isLessThan(WINDOW_BYTES + (8 << 20));
    }
  }
}
