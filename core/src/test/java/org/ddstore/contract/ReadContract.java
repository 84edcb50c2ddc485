// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Test;

/** The rows that a read returns. */
interface ReadContract extends Contract {
  static long[] twentyOverEveryBorder(int ranks) {
    int rows = Rows.first(ranks);
    List<Long> borders = new ArrayList<>(List.of(rows - 1L, 0L));
    for (int r = 1; r < ranks; r++) {
      borders.add(Math.min(rows - 1L, Rows.first(r)));
      borders.add(Rows.first(r) - 1L);
    }
    long[] indices = new long[20];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = borders.get(i * 7 % borders.size());
    }
    return indices;
  }

  @Test
  default void readsRepeatedIndicesAcrossEveryShardBorder() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          long[] indices = twentyOverEveryBorder(rank.ranks());
          byte[] expected = Rows.longs(1, indices);
          Tensor buffer = Rows.room(x.schema().field(0), 20);
          store.getBatch("x", buffer, indices);
          assertThat(buffer.toByteArray()).isEqualTo(expected);
          long[] array = new long[60];
          store.getBatch("x", Tensor.wrap(array, 20, 3), indices);
          assertThat(Tensor.wrap(array).toByteArray()).isEqualTo(expected);
          try (Batch batch = store.getBatch("x", indices)) {
            assertThat(batch.rows()).isEqualTo(20);
            assertThat(batch.field("x").toByteArray()).isEqualTo(expected);
          }
        });
  }

  /** A row costs no memory of the heap, whatever a batch costs. */
  @Test
  default void longBatchesAllocateNoMoreThanShortOnes() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          long[] border = twentyOverEveryBorder(rank.ranks());
          try (Reader reader = x.reader();
              Batch few = reader.getBatch();
              Batch many = reader.getBatch()) {
            long[] indices = new long[4096];
            Arrays.setAll(indices, i -> border[i * 7 % border.length]);
            long[] first = Arrays.copyOf(indices, 256);
            await("less than a byte allocated for each more row") // a wait may allocate
                .untilAsserted(
                    () -> {
                      long forFew = allocatedBytes(reader, few, first);
                      assertThat(allocatedBytes(reader, many, indices) - forFew)
                          .isLessThan(indices.length - first.length);
                    });
          }
        });
  }

  @Test
  default void oneRowOfMemoryAllocatesNothing() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          long own = Rows.first(rank.rank());
          boolean isRemote =
              store.info().variables().get(0).extents().get(rank.rank()).path() == ReadPath.REMOTE;
          if (isRemote || Rows.count(rank.rank()) == 0) {
            return; // a transport that is tested without the memory of this process; or no rows
          }
          Tensor row = Tensor.wrap(new long[3], 1, 3);
          ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
          try (Reader reader = x.reader()) {
            await("no bytes allocated for rows of the own process")
                .untilAsserted(
                    () -> {
                      long before = threads.getCurrentThreadAllocatedBytes();
                      for (int i = 0; i < 1000; i++) {
                        reader.get(row, own);
                      }
                      long after = threads.getCurrentThreadAllocatedBytes();
                      assertThat(after - before).isZero();
                    });
          }
        });
  }

  /** Returns what 100 reads allocate on the heap of this thread. */
  private static long allocatedBytes(Reader reader, Batch batch, long... indices) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 100; i++) {
      reader.getBatch(batch, indices);
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  default void readsTheFirstAndLastRow() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          for (long index : new long[] {0, x.rows() - 1}) {
            long[] one = new long[3];
            store.get("x", Tensor.wrap(one, 1, 3), index);
            assertThat(Tensor.wrap(one).toByteArray()).isEqualTo(Rows.longs(1, index));
          }
        });
  }

  @Test
  default void readsEveryRunOfConsecutiveRows() throws Exception {
    run(
        rank -> {
          int rows = Rows.first(rank.ranks());
          try (DDStore store = rank.open()) {
            Variable x = Rows.addLongs(store, "x", 1);
            try (Reader reader = x.reader()) {
              for (int from = 0; from <= rows; from++) {
                for (int to = from; to <= rows; to++) {
                  Tensor got = Rows.room(x.schema().field(0), to - from);
                  reader.get(got, from);
                  assertThat(got.toByteArray()).isEqualTo(Rows.bytes(DType.INT64, 1, from, to, 3));
                }
              }
            }
          }
        });
  }

  @Test
  default void noIndicesMakeAnEmptyBatch() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          try (Batch batch = store.getBatch("x")) {
            assertThat(batch.rows()).isZero();
            assertThat(batch.field("x").shape()).containsExactly(0, 3);
            assertThat(batch.field("x").asByteBuffer().remaining()).isZero();
          }
          store.getBatch("x", Tensor.wrap(new long[0], 0, 3));
          store.get("x", Tensor.wrap(new long[0], 0, 3), 0);
          store.get("x", Tensor.wrap(new long[0], 0, 3), Rows.first(rank.ranks()));
        });
  }

  @Test
  default void badIndexLeavesTheDestinationUnchanged() throws Exception {
    run(
        rank -> {
          int rows = Rows.first(rank.ranks());
          try (DDStore store = rank.open()) {
            Variable x = Rows.addLongs(store, "x", 1);
            try (Reader reader = x.reader();
                Batch reused = reader.getBatch(1, 2)) {
              for (long bad : new long[] {-1, rows, Long.MAX_VALUE, Long.MIN_VALUE}) {
                String message =
                    "row %d (number 2 of the batch) outside [0, %d) of \"x\"".formatted(bad, rows);
                long[] array = {5, 5, 5, 5, 5, 5, 5, 5, 5};
                Tensor buffer = Rows.tensor(DType.UINT8, new byte[72], 72);
                Arrays.fill(buffer.asByteBuffer().array(), (byte) 7);
                Tensor bytes = Tensor.wrap(DType.INT64, buffer.asByteBuffer(), 3, 3);
                assertOutside(message, () -> reader.getBatch(Tensor.wrap(array, 3, 3), 0, 1, bad));
                assertOutside(message, () -> reader.getBatch(bytes, 0, 1, bad));
                assertOutside(message, () -> reader.getBatch(reused, 0, 1, bad));
                assertOutside(message, () -> reader.getBatch(0, 1, bad));
                assertThat(array).containsOnly(5);
                assertThat(buffer.toByteArray()).containsOnly(7);
                assertThat(reused.field("x").toByteArray()).isEqualTo(Rows.longs(1, 1, 2));
              }
              long[] array = new long[9];
              assertOutside(
                  "rows [%d, %d) outside [0, %d) of \"x\"".formatted(rows - 2, rows + 1, rows),
                  () -> reader.get(Tensor.wrap(array, 3, 3), rows - 2));
              assertOutside(
                  "rows [-1, 2) outside [0, %d) of \"x\"".formatted(rows),
                  () -> reader.get(Tensor.wrap(array, 3, 3), -1));
              assertThatThrownBy(() -> reader.get(Tensor.wrap(array, 3, 3), Long.MAX_VALUE - 1))
                  .isInstanceOf(IndexOutOfBoundsException.class);
              assertThat(array).containsOnly(0);
              reader.getBatch(Tensor.wrap(array, 3, 3), 2, 0, 2);
              assertThat(Tensor.wrap(array).toByteArray()).isEqualTo(Rows.longs(1, 2, 0, 2));
            }
          }
        });
  }

  private static void assertOutside(String message, Runnable read) {
    assertThatThrownBy(read::run).isInstanceOf(IndexOutOfBoundsException.class).hasMessage(message);
  }

  @Test
  default void unknownNameListsTheValidOnes() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          Rows.addLongs(store, "y", 2);
          Tensor room = Tensor.wrap(new long[3], 1, 3);
          assertUnknown(() -> store.get("z", room, 0));
          assertUnknown(() -> store.getBatch("z", room, 0));
          assertUnknown(() -> store.getBatch("z", 0).close());
          assertUnknown(() -> store.update("z", room, 0));
          assertUnknown(() -> store.digest("z"));
          assertThatThrownBy(() -> store.variable("x").reader("q").close())
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessage("no field \"q\": choose one of [x int64[3]]");
        });
  }

  private static void assertUnknown(Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no variable \"z\": choose one of [x, y]");
  }

  @Test
  default void randomReadsEqualPlainArrays() throws Exception {
    long seed = Rows.seed("randomReadsEqualPlainArrays");
    run(
        rank -> {
          Random same = new Random(seed); // equal on all ranks
          try (DDStore store = rank.open()) {
            for (int trial = 0; trial < 12; trial++) {
              DType dtype = DType.ofCode(1 + same.nextInt(DType.values().length));
              int elements = 1 + same.nextInt(300);
              long[] first = new long[rank.ranks() + 1];
              for (int r = 0; r < rank.ranks(); r++) {
                first[r + 1] = first[r] + (long) same.nextInt(3) * same.nextInt(200);
              }
              String name = "v" + trial;
              Tensor own =
                  Rows.range(dtype, trial, first[rank.rank()], first[rank.rank() + 1], elements);
              Variable x = store.add(name, own);
              assertThat(x.rows()).isEqualTo(first[rank.ranks()]);
              byte[] oracle = Rows.bytes(dtype, trial, 0, x.rows(), elements);
              Random mine = new Random(seed ^ (trial * 131L + rank.rank()));
              assertRandomReads(x, oracle, mine, seed);
            }
          }
        });
  }

  private static void assertRandomReads(Variable x, byte[] oracle, Random random, long seed) {
    Field field = x.schema().field(0);
    int size = field.bytes();
    try (Reader reader = x.reader()) {
      for (int i = 0; i < 20 && x.rows() > 0; i++) {
        long[] indices = random.longs(random.nextInt(400), 0, x.rows()).toArray();
        byte[] expected = new byte[indices.length * size];
        for (int k = 0; k < indices.length; k++) {
          System.arraycopy(oracle, (int) indices[k] * size, expected, k * size, size);
        }
        byte[] zeros = new byte[expected.length];
        Tensor array = Rows.tensor(field.dtype(), zeros, indices.length, field.elements());
        reader.getBatch(array, indices);
        assertThat(array.toByteArray()).as("seed %d", seed).isEqualTo(expected);
        try (Batch batch = reader.getBatch(indices)) {
          assertThat(batch.field(x.name()).toByteArray()).as("seed %d", seed).isEqualTo(expected);
        }
        int from = random.nextInt((int) x.rows());
        int count = random.nextInt((int) x.rows() - from + 1);
        Tensor run = Rows.room(field, count);
        reader.get(run, from);
        assertThat(run.toByteArray())
            .as("seed %d", seed)
            .isEqualTo(java.util.Arrays.copyOfRange(oracle, from * size, (from + count) * size));
      }
    }
  }
}
