// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.ddstore.ComputedPeers.A;
import static org.ddstore.ComputedPeers.B;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankLostException;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RowLocatorTest {
  private static final Schema LONGS = Schema.of(Field.fixed("x", DType.INT64));
  private static final Schema BYTES = Schema.of(Field.bytes("x"));
  private static final int DATA_BYTES = 10;
  private static final int RECORD_BYTES = Integer.BYTES + DATA_BYTES;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final ProcessAddress[] IN_A = {A};
  private static final ProcessAddress[] IN_B = {B};

  private final long heldBefore = OffHeapBuffer.liveBytes();
  private ComputedPeers peers = ComputedPeers.ofFixed(LONGS, TIMEOUT);
  private Variable variable;
  private RowLocator locator;

  private void open(Variable opened) {
    variable = opened;
    locator = new RowLocator(variable, null);
  }

  @AfterEach
  void nothingIsLeft() {
    locator.close();
    variable.free();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(heldBefore);
  }

  private static long longOf(ReadPlan located, int i) {
    ByteBuffer source = located.source(i).duplicate().order(ByteOrder.LITTLE_ENDIAN);
    return source.getLong(located.position(i));
  }

  private List<Long> read(long... indices) {
    List<Long> values = new ArrayList<>();
    int rows =
        locator.read(
            variable.placement(),
            indices,
            0,
            indices.length,
            ReadPlan.UNLIMITED_BYTES,
            located -> {
              values.clear();
              for (int i = 0; i < located.rows(); i++) {
                values.add(longOf(located, i));
              }
            });
    assertThat(rows).isEqualTo(indices.length);
    return values;
  }

  @Test
  void readsRowsInTheOrderOfTheIndices() {
    open(peers.besideOwnRows(A, B));
    assertThat(read(9, 0, 5, 9, 3, 5, 11)).containsExactly(9L, 0L, 5L, 9L, 3L, 5L, 11L);
    assertThat(peers.fetches()).as("one fetch, each row once").hasSize(1);
    assertThat(peers.fetches().get(0)).containsExactlyInAnyOrder(5L, 9L, 11L);
    assertThat(read(3, 2)).containsExactly(3L, 2L);
    assertThat(peers.fetches()).as("no fetch of own rows").hasSize(1);
  }

  @Test
  void readsTheFirstRowsWithinTheLimit() {
    peers = ComputedPeers.ofBytes(BYTES, row -> DATA_BYTES);
    open(peers.inCopies(new ProcessAddress[] {A, B}));
    assertThat(readWithin(3 * RECORD_BYTES + 1, 0, 8)).containsExactly(0, 1, 2);
    assertThat(readWithin(3 * RECORD_BYTES, 3, 5)).containsExactly(3, 4, 5);
    assertThat(readWithin(2 * RECORD_BYTES, 6, 2)).containsExactly(6, 7);
    assertThat(readWithin(1, 0, 8)).as("at least one row").containsExactly(0);
  }

  private List<Integer> readWithin(long stagingBytes, int offset, int count) {
    long[] indices = LongStream.range(0, 2 * ComputedPeers.RANK_ROWS).toArray();
    List<Integer> values = new ArrayList<>();
    int rows =
        locator.read(
            variable.placement(),
            indices,
            offset,
            count,
            stagingBytes,
            located -> {
              for (int i = 0; i < located.rows(); i++) {
                assertThat(located.recordBytes(i)).isEqualTo(RECORD_BYTES);
                values.add((int) located.source(i).get(located.position(i) + Integer.BYTES));
              }
            });
    assertThat(rows).isEqualTo(values.size());
    return values;
  }

  @Test
  void readsAllRowsOrNone() {
    peers = ComputedPeers.ofBytes(BYTES, row -> DATA_BYTES);
    open(peers.inCopies(new ProcessAddress[] {A, B}));
    long[] indices = {7, 1, 4};
    assertThat(
            locator.readAll(
                variable.placement(),
                indices,
                3,
                3 * RECORD_BYTES - 1,
                located -> fail("copied %d rows", located.rows())))
        .isFalse();
    List<Integer> copied = new ArrayList<>();
    assertThat(
            locator.readAll(
                variable.placement(),
                indices,
                3,
                3 * RECORD_BYTES,
                located -> copied.add(located.rows())))
        .isTrue();
    assertThat(copied).containsExactly(3);
  }

  @Test
  void copiesAgainUntilNoRowChanges() {
    open(peers.besideOwnRows());
    Segment own = variable.ownSegments().get(0);
    List<String> waits = new ArrayList<>();
    locator.begin();
    locator.read(
        variable.placement(),
        new long[] {2, 1},
        0,
        2,
        ReadPlan.UNLIMITED_BYTES,
        located -> {
          waits.add(locator.waitsFor());
          switch (waits.size()) {
            case 1 -> own.beginChange();
            case 2 -> own.endChange();
            default -> {}
          }
        });
    assertThat(waits).as("before, during and after the change").hasSize(3);
    assertThat(waits.get(0)).isEmpty();
    assertThat(waits.get(1)).startsWith("for rank 0, which has been changing its rows for ");
    locator.begin();
    assertThat(locator.waitsFor()).isEmpty();
  }

  @Test
  void throwsIfRowsStillChangeAtTheDeadline() {
    peers = ComputedPeers.ofFixed(LONGS, Duration.ofMillis(20));
    open(peers.besideOwnRows());
    Segment own = variable.ownSegments().get(0);
    own.beginChange();
    locator.begin();
    assertThatThrownBy(() -> read(1))
        .isInstanceOf(DeadlineExceededException.class)
        .hasMessageStartingWith("rows of \"x\" on rank 0 have been changing for PT0.02S");
    own.endChange();
    locator.begin();
    assertThat(read(1)).containsExactly(1L);
  }

  @Test
  void anInterruptEndsTheWaitForChangingRows() {
    open(peers.besideOwnRows());
    Segment own = variable.ownSegments().get(0);
    own.beginChange();
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> read(1))
          .isInstanceOf(DDStoreException.class)
          .hasMessage("interrupted while rows of \"x\" changed");
    } finally {
      assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
      own.endChange();
    }
  }

  @Test
  void readsOfOneBeginShareATimeout() {
    open(peers.besideOwnRows(A));
    locator.begin();
    read(4);
    read(5);
    assertThat(peers.silenceLimits()).containsExactly(Duration.ofMillis(1500));
    locator.begin();
    read(6);
    assertThat(peers.silenceLimits()).hasSize(2);
  }

  @Test
  void readsAnotherCopyAfterAProcessHasEnded() {
    open(peers.inCopies(IN_A, IN_B));
    peers.end(A);
    locator.begin();
    assertThat(read(3, 0)).containsExactly(3L, 0L);
    assertThat(peers.asked()).containsExactly(A, B);
    assertThat(peers.silenceLimits()).as("a new timeout for the other copy").hasSize(2);
    peers.end(B);
    assertThatThrownBy(() -> read(3)).isInstanceOf(RankLostException.class);
    assertThat(peers.asked()).containsExactly(A, B, B);
  }

  @Test
  void throwsAtOnceWithoutAnotherCopy() {
    open(peers.besideOwnRows(A));
    peers.end(A);
    assertThatThrownBy(() -> read(0, 4))
        .isInstanceOf(RankLostException.class)
        .hasMessageContaining("rank 1");
    assertThat(peers.asked()).containsExactly(A);
  }

  @Test
  void readsAnotherCopyOfASilentProcess() {
    open(peers.inCopies(IN_A, IN_B));
    peers.silence(process -> {}, A);
    assertThat(read(1)).containsExactly(1L);
    assertThat(read(2)).containsExactly(2L);
    assertThat(peers.asked()).containsExactly(A, B, B);
    peers.answer(A);
    assertThat(read(3)).containsExactly(3L);
    assertThat(peers.asked()).as("A has answered a probe").containsExactly(A, B, B, A);
  }

  @Test
  void readsACopyThatWasSilentWhenTheOtherIsGone() {
    open(peers.inCopies(IN_A, IN_B));
    peers.silence(process -> {}, A);
    assertThat(read(1)).containsExactly(1L);
    peers.goOn(A);
    peers.end(B);
    assertThat(read(2)).containsExactly(2L);
    assertThat(peers.asked()).as("A has not answered a probe").containsExactly(A, B, B, A);
  }

  @Test
  void aProcessIsReplaceableWhileACopyIsNotExcluded() {
    open(peers.inCopies(new ProcessAddress[] {A, B}, new ProcessAddress[] {B, A}));
    assertThat(variable.hasOtherCopies(A, Set.of())).isTrue();
    assertThat(variable.hasOtherCopies(B, Set.of(A))).as("the other copy is given up").isFalse();
    peers.silence(process -> {}, A);
    assertThat(read(1, 5)).containsExactly(1L, 5L);
    assertThat(variable.hasOtherCopies(B, Set.of())).as("the last copy").isFalse();
    peers.answer(A);
    assertThat(variable.hasOtherCopies(B, Set.of())).as("A has answered a probe").isTrue();
  }

  /** Without a limit, each switch by another reader would let this one try again. */
  @Test
  void givesUpSilentCopiesToWhichOtherReadersReturn() {
    open(peers.inCopies(IN_A, IN_B));
    peers.silence(
        process -> variable.failOver(variable.placement(), Set.of(), Set.of(process)), A, B);
    assertThatThrownBy(() -> read(1)).isInstanceOf(DeadlineExceededException.class);
    assertThat(peers.asked()).as("two copies, and one of them again").hasSize(3);
  }

  @Test
  void windowsOfRemoteRowsFitInTheStagingMemory() {
    open(peers.besideOwnRows(A));
    assertThat(RowLocator.windowRows(variable.placement(), 1 << 20))
        .isEqualTo(RowLocator.WINDOW_BYTES >> 20);
    assertThat(RowLocator.windowRows(variable.placement(), Integer.MAX_VALUE)).isEqualTo(1);
    assertThat(RowLocator.windowRows(variable.placement(), 0))
        .isEqualTo(ReadPlan.maxRows(variable.placement()));
    Variable local = ComputedPeers.ofFixed(LONGS, TIMEOUT).besideOwnRows();
    assertThat(RowLocator.windowRows(local.placement(), 1 << 20)).isEqualTo(Integer.MAX_VALUE);
    local.free();
  }
}
