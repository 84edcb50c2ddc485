// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.ddstore.ComputedPeers.A;
import static org.ddstore.ComputedPeers.B;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToIntFunction;
import java.util.stream.Stream;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.read.RecordGather;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CombinedReadTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Schema BYTES = Schema.of(Field.bytes("x"));

  private static final int WIDE_BYTES = RowLocator.WINDOW_BYTES / 5 * 2;

  private final long heldBefore = OffHeapBuffer.liveBytes();
  private ComputedPeers peers;
  private Variable variable;
  private RowLocator locator;
  private RecordGather gather;
  private BatchMemory.Pool pool;
  private Batch[] batches = {};
  private final ReadCounters counters = new ReadCounters();
  private CombinedRead combined;

  private static Schema longs(int bytes) {
    return Schema.of(Field.fixed("x", DType.INT64, bytes / Long.BYTES));
  }

  private void openFixed(Schema schema, ProcessAddress... others) {
    peers = ComputedPeers.ofFixed(schema, TIMEOUT);
    open(peers.besideOwnRows(others));
  }

  private void openBytes(LongToIntFunction dataBytes) {
    peers = ComputedPeers.ofBytes(BYTES, dataBytes);
    open(peers.inCopies(new ProcessAddress[] {A, B}));
  }

  private void open(Variable opened) {
    variable = opened;
    Projection fields = new Projection(variable, ReaderOptions.defaults());
    locator = new RowLocator(variable, null);
    gather = fields.newGather();
    pool = new BatchMemory.Pool(fields);
    combined = new CombinedRead(variable.schema(), locator, gather, counters);
  }

  @AfterEach
  void nothingIsLeft() {
    Stream.of(batches).forEach(Batch::close);
    pool.close();
    gather.close();
    locator.close();
    variable.free();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(heldBefore);
  }

  private boolean fill(long[]... rows) {
    int[] starts = new int[rows.length + 1];
    for (int b = 0; b < rows.length; b++) {
      starts[b + 1] = starts[b] + rows[b].length;
    }
    long[] checked = Stream.of(rows).flatMapToLong(Arrays::stream).toArray();
    batches = Stream.of(rows).map(batch -> pool.take()).toArray(Batch[]::new);
    counters.begin();
    return combined.fill(variable.placement(), checked, batches, starts);
  }

  private List<Long> firstLongs(int batch) {
    Tensor x = batches[batch].field("x");
    long rowElements = x.shape()[1];
    return Stream.iterate(0L, i -> i + 1)
        .limit(batches[batch].rows())
        .map(i -> x.getLong(i * rowElements))
        .toList();
  }

  @Test
  void leavesLocalRowsToSingleReads() {
    openFixed(longs(Long.BYTES));
    assertThat(fill(new long[] {0, 1}, new long[] {2})).isFalse();
    assertThat(batches[0].rows()).isZero();
  }

  @Test
  void fetchesTheRowsOfAllBatchesOnce() {
    openFixed(longs(Long.BYTES), A, B);
    assertThat(fill(new long[] {9, 0, 5}, new long[0], new long[] {5, 11, 9, 3})).isTrue();
    assertThat(firstLongs(0)).containsExactly(9L, 0L, 5L);
    assertThat(firstLongs(1)).isEmpty();
    assertThat(firstLongs(2)).containsExactly(5L, 11L, 9L, 3L);
    assertThat(peers.fetches()).hasSize(1);
    assertThat(peers.fetches().get(0)).containsExactlyInAnyOrder(5L, 9L, 11L);
    counters.end(0, 7, 7 * Long.BYTES);
    assertThat(counters.statistics(ReadPath.REMOTE).rows()).isEqualTo(5);
    assertThat(counters.statistics(ReadPath.OWN_PROCESS).rows()).isEqualTo(2);
  }

  @Test
  void readsEmptyBatches() {
    openFixed(longs(Long.BYTES), A);
    assertThat(fill(new long[0], new long[0])).isTrue();
    assertThat(batches[0].rows()).isZero();
    assertThat(peers.fetches()).isEmpty();
  }

  /** The second window begins within the second batch. */
  @Test
  void readsWideRowsWindowByWindow() {
    Schema wide = longs(WIDE_BYTES);
    peers = ComputedPeers.ofFixed(wide, TIMEOUT);
    open(peers.inCopies(new ProcessAddress[] {A}));
    assertThat(RowLocator.windowRows(variable.placement(), wide.fixedBytes())).isEqualTo(2);
    assertThat(fill(new long[] {2}, new long[] {1, 3})).isTrue();
    assertThat(firstLongs(0)).containsExactly(2L);
    assertThat(firstLongs(1)).containsExactly(1L, 3L);
    assertThat(peers.fetches()).containsExactly(List.of(1L, 2L), List.of(3L));
  }

  @Test
  void readsRaggedRowsOfAllBatchesTogether() {
    openBytes(row -> (int) row + 1);
    assertThat(fill(new long[] {7, 2}, new long[0], new long[] {2, 4, 0})).isTrue();
    assertBytes(0, 7, 2);
    assertBytes(1);
    assertBytes(2, 2, 4, 0);
    assertThat(peers.fetches()).hasSize(1);
    assertThat(peers.fetches().get(0)).containsExactlyInAnyOrder(0L, 2L, 4L, 7L);
  }

  private void assertBytes(int batch, int... rows) {
    assertThat(batches[batch].rows()).isEqualTo(rows.length);
    for (int i = 0; i < rows.length; i++) {
      byte[] expected = new byte[rows[i] + 1];
      Arrays.fill(expected, (byte) rows[i]);
      assertThat(batches[batch].bytes("x", i)).as("row %d", rows[i]).isEqualTo(expected);
    }
  }

  @Test
  void leavesRaggedRowsThatExceedOneReadToSingleReads() {
    openBytes(row -> (int) (RowLocator.RAGGED_WINDOW_BYTES / 2));
    assertThat(fill(new long[] {1}, new long[] {6})).isFalse();
    assertThat(Stream.of(batches).mapToInt(Batch::rows)).containsOnly(0);
    assertThat(Stream.of(batches).mapToLong(Batch::capacityBytes))
        .as("no memory was reserved")
        .containsOnly(0L);
    counters.end(0, 2, 0);
    assertThat(counters.statistics(ReadPath.REMOTE).rows()).as("no row was counted").isZero();
  }

  @Test
  void leavesMoreRowsThanOnePlanHoldsToSingleReads() {
    openFixed(longs(Long.BYTES), A);
    assertThat(fill(new long[1 << 20], new long[] {4})).isFalse();
    assertThat(peers.fetches()).isEmpty();
  }
}
