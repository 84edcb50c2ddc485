// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.junit.jupiter.api.Test;

/** Reads whose array of indices another thread changes meanwhile. */
interface ChangingIndicesContract extends Contract {
  int COUNT = 300;

  int PLACE = 250;

  int READS = 300;

  @Test
  default void readsOneOfTheValuesOfAChangingIndex() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable longs = Rows.addLongs(store, "x", 1);
          Variable records = Records.add(store, rank, 5);
          long rows = longs.rows();
          long[] indices = new long[COUNT];
          AtomicInteger whole = new AtomicInteger();
          try (Changer changer = new Changer(indices, 1, -1, 1, rows, 0, rows + 100, 1, -rows);
              Reader reader = longs.reader();
              Reader ofRecords = records.reader();
              Batch batch = reader.getBatch();
              Batch first = reader.getBatch();
              Batch record = ofRecords.getBatch()) {
            Tensor buffer = Rows.room(longs.schema().field(0), COUNT);
            long[] array = new long[3 * COUNT];
            Tensor inArray = Tensor.wrap(array, COUNT, 3);
            for (int read = 0; read < READS || whole.get() == 0; read++) {
              changer.checkAlive();
              Runnable readBatch = () -> reader.getBatch(batch, indices);
              if (succeeds(readBatch, whole)) {
                assertRows(batch.field("x").toByteArray());
              }
              if (succeeds(() -> reader.getBatch(buffer, indices), whole)) {
                assertRows(buffer.toByteArray());
              }
              if (succeeds(() -> reader.getBatch(inArray, indices), whole)) {
                assertRows(inArray.toByteArray());
              }
              List<Batch> both = List.of(first, batch);
              if (succeeds(
                  () -> reader.getBatches(both, List.of(new long[] {1}, indices)), whole)) {
                assertThat(first.field("x").toByteArray()).isEqualTo(Rows.longs(1, 1));
                assertRows(batch.field("x").toByteArray());
              }
              if (read % 10 == 0 && succeeds(() -> ofRecords.getBatch(record, indices), whole)) {
                assertRecord(record);
              }
            }
          }
          rank.meet();
        });
  }

  @Test
  default void readsAListOfIndicesOnce() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable longs = Rows.addLongs(store, "x", 1);
          long outside = longs.rows();
          List<long[]> changing = new ChangingList(outside);
          try (Reader reader = longs.reader();
              Batch first = reader.getBatch();
              Batch second = reader.getBatch()) {
            reader.getBatches(List.of(first, second), changing);
            assertThat(first.field("x").toByteArray()).isEqualTo(Rows.longs(1, 0, 1));
            assertThat(second.field("x").toByteArray()).isEqualTo(Rows.longs(1, 1, 1));
            assertThatThrownBy(() -> reader.getBatches(List.of(first, second), changing))
                .isExactlyInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("row %d (number 0 of the batch)".formatted(outside));
          }
          rank.meet();
        });
  }

  final class ChangingList extends AbstractList<long[]> {
    private final long outside;
    private int gets;

    private ChangingList(long outside) {
      this.outside = outside;
    }

    @Override
    public long[] get(int index) {
      return gets++ < size() ? new long[] {index, 1} : new long[] {outside, 0, 1, 0};
    }

    @Override
    public int size() {
      return 2;
    }
  }

  private static boolean succeeds(Runnable read, AtomicInteger count) {
    try {
      read.run();
      count.incrementAndGet();
      return true;
    } catch (IndexOutOfBoundsException e) {
      assertThat(e)
          .isExactlyInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("(number %d of the batch) outside [0, ".formatted(PLACE));
      return false;
    }
  }

  private static void assertRows(byte[] bytes) {
    byte[] zero = Rows.longs(1, 0);
    assertThat(bytes).hasSize(COUNT * zero.length);
    for (int i = 0; i < COUNT; i++) {
      byte[] row = Arrays.copyOfRange(bytes, i * zero.length, (i + 1) * zero.length);
      if (i == PLACE && !Arrays.equals(row, zero)) {
        assertThat(row).as("row %d of the batch", i).isEqualTo(Rows.longs(1, 1));
      } else {
        assertThat(row).as("row %d of the batch", i).isEqualTo(zero);
      }
    }
  }

  private static void assertRecord(Batch batch) {
    long[] named = new long[COUNT];
    named[PLACE] = batch.field("label").getLong(PLACE) == (Integer) Records.values(5, 0)[0] ? 0 : 1;
    for (int field = 0; field < Records.FIELDS.size(); field++) {
      Records.assertField(batch, field, 5, named);
    }
  }

  final class Changer implements AutoCloseable {
    private final Thread thread;
    private volatile boolean over;

    Changer(long[] indices, long... values) {
      thread =
          new Thread(
              () -> {
                for (int turn = 0; !over; turn = (turn + 1) % (64 * values.length)) {
                  indices[PLACE] = values[turn / 64];
                }
              },
              "changer");
      thread.setDaemon(true);
      thread.start();
    }

    void checkAlive() {
      assertThat(thread.isAlive()).isTrue();
    }

    @Override
    public void close() {
      over = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while the changer ends", e);
      }
    }
  }
}
