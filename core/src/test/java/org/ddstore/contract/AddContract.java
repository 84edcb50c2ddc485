// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** The creation and growth of variables. */
interface AddContract extends Contract {
  @Test
  default void concatenatesTheRowsOfAllRanks() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          int rows = Rows.first(rank.ranks());
          assertThat(x.rows()).isEqualTo(rows);
          assertThat(x.localRows()).isEqualTo(Rows.count(rank.rank()));
          assertThat(store.variable("x")).isSameAs(x);
          Tensor all = Rows.room(x.schema().field(0), rows);
          store.get("x", all, 0);
          assertThat(all.toByteArray()).isEqualTo(Rows.bytes(DType.INT64, 1, 0, rows, 3));
        });
  }

  @Test
  default void copiesTheCallersArray() throws Exception {
    runWithStore(
        (rank, store) -> {
          int[] mine = {rank.rank(), 10 + rank.rank()};
          store.add("x", Tensor.wrap(mine));
          mine[0] = -1;
          int[] got = new int[2 * rank.ranks()];
          store.get("x", Tensor.wrap(got), 0);
          for (int r = 0; r < rank.ranks(); r++) {
            assertThat(got[2 * r]).isEqualTo(r);
            assertThat(got[2 * r + 1]).isEqualTo(10 + r);
          }
        });
  }

  @Test
  default void initCreatesZeroRowsThatCanBeUpdated() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.init("x", 3L + rank.rank(), DType.INT16, 2);
          short[] got = new short[Math.toIntExact(x.rows() * 2)];
          java.util.Arrays.fill(got, (short) 99);
          store.get("x", Tensor.wrap(DType.INT16, got, x.rows(), 2), 0);
          assertThat(got).containsOnly((short) 0);
          store.update("x", Tensor.wrap(DType.INT16, new short[] {4, 5}, 1, 2), 1);
          store.epochBegin();
          store.epochEnd();
          store.get("x", Tensor.wrap(DType.INT16, got, x.rows(), 2), 0);
          assertThat(got).startsWith(0, 0, 4, 5, 0, 0);
        });
  }

  @Test
  default void variablesMayHaveNoRows() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.add("x", Tensor.wrap(new double[0], 0, 4));
          Variable zero = store.init("zero", 0, DType.UINT8);
          assertThat(x.rows()).isZero();
          assertThat(zero.rows()).isZero();
          store.get("x", Tensor.wrap(new double[0], 0, 4), 0);
          store.getBatch("x").close();
          assertThatThrownBy(() -> store.get("x", Tensor.wrap(new double[4], 1, 4), 0))
              .isInstanceOf(IndexOutOfBoundsException.class)
              .hasMessage("row 0 outside [0, 0) of \"x\"");
          assertThat(store.digest("x")).isEqualTo("0".repeat(32));
          store.append("x", Tensor.wrap(new double[] {rank.rank(), 0, 0, 0}, 1, 4));
          assertThat(x.rows()).isEqualTo(rank.ranks());
        });
  }

  @Test
  default void acceptsRowsFromASingleRank() throws Exception {
    run(
        rank -> {
          int holder = rank.ranks() - 1;
          try (DDStore store = rank.open()) {
            store.add("x", Tensor.wrap(rank.rank() == holder ? new long[] {5, 6} : new long[0]));
            long[] got = new long[3];
            store.getBatch("x", Tensor.wrap(got), 1, 0, 1);
            assertThat(got).containsExactly(6, 5, 6);
          }
        });
  }

  @Test
  default void rejectsADuplicateNameOnAllRanks() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          assertThatThrownBy(() -> Rows.addLongs(store, "x", 2))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("a variable \"x\" was added before");
          assertThatThrownBy(() -> store.init("x", 1, DType.BOOL))
              .isInstanceOf(IllegalArgumentException.class);
          assertUsable(store, rank);
        });
  }

  @Test
  default void rejectsADifferentSchemaOfOneRankOnAllRanks() throws Exception {
    run(
        rank -> {
          int other = rank.ranks() - 1;
          try (DDStore store = rank.open()) {
            Rows.addLongs(store, "x", 1);
            Tensor rows =
                rank.rank() == other
                    ? Tensor.wrap(new float[4], 2, 2)
                    : Tensor.wrap(new float[6], 2, 3);
            assertThatThrownBy(() -> store.add("y", rows))
                .isInstanceOfSatisfying(
                    CollectiveMismatchException.class, e -> assertThat(e.rank()).isEqualTo(other))
                .hasMessageContaining("rank " + other + " has Schema[y: float32[2]]")
                .hasMessageContaining("rank 0 has Schema[y: float32[3]]");
            assertThatThrownBy(() -> store.variable("y"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no variable \"y\": choose one of [x]");
            assertUsable(store, rank);
            store.add("y", Tensor.wrap(new float[3]));
          }
        });
  }

  @Test
  default void raisesAFailureOfOneRankOnAllRanks() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          Tensor scalar = Tensor.wrap(DType.UINT8, java.nio.ByteBuffer.allocate(1));
          if (rank.rank() == 1) {
            assertThatThrownBy(() -> store.add("y", scalar))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a scalar has no rows: give a shape of [rows, ..]");
          } else {
            assertThatThrownBy(() -> store.add("y", Tensor.wrap(DType.UINT8, new byte[1])))
                .isInstanceOfSatisfying(
                    RankFailedException.class, e -> assertThat(e.rank()).isEqualTo(1))
                .hasMessageContaining("rank 1 failed")
                .hasMessageContaining("a scalar has no rows");
          }
          assertUsable(store, rank);
        });
  }

  @Test
  default void appendsRowsWithoutChangingOldIndices() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          int old = Rows.first(rank.ranks());
          try (var reader = x.reader()) {
            long[] olds = Rows.shuffledTwice(old, 5);
            byte[] expected = Rows.longs(1, olds);
            for (int times = 1; times <= 3; times++) {
              store.append("x", Rows.own(DType.INT64, 1 + times, rank.rank(), 3));
              assertThat(x.rows()).isEqualTo(old * (times + 1L));
              assertThat(x.localRows()).isEqualTo(Rows.count(rank.rank()) * (times + 1L));
              try (var batch = reader.getBatch(olds)) {
                assertThat(batch.field("x").toByteArray()).isEqualTo(expected);
              }
              Tensor added = Rows.room(x.schema().field(0), old);
              reader.get(added, (long) old * times);
              assertThat(added.toByteArray())
                  .isEqualTo(Rows.bytes(DType.INT64, 1 + times, 0, old, 3));
            }
          }
        });
  }

  @Test
  default void rejectsAppendedRowsOfAnotherSchema() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          assertThatThrownBy(() -> store.append("x", Tensor.wrap(new long[4], 1, 4)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Schema[x: int64[4]]")
              .hasMessageContaining("cannot be appended");
          assertThatThrownBy(() -> store.append("nobody", Tensor.wrap(new long[3], 1, 3)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessage("no variable \"nobody\": choose one of [x]");
          assertUsable(store, rank);
        });
  }

  @Test
  default void rejectedWritersLeakNothing() throws Exception {
    Map<Boolean, String> names = Map.of(true, "x", false, "y");
    run(
        rank -> {
          Schema schema = Schema.of(Field.string("text"));
          DDStore store = rank.open();
          Rows.addLongs(store, "x", 1);
          for (boolean taken : new boolean[] {true, false}) {
            ShardWriter shard = ShardWriter.create(schema, rank.options());
            shard.append("row");
            if (taken) {
              assertThatThrownBy(() -> store.add(names.get(true), shard))
                  .isInstanceOf(IllegalArgumentException.class);
              assertThatThrownBy(() -> shard.append("more"))
                  .isInstanceOf(IllegalStateException.class);
            }
            ShardWriter appended = ShardWriter.create(schema, rank.options());
            assertThatThrownBy(() -> store.append(names.get(false), appended))
                .isInstanceOf(IllegalArgumentException.class);
            shard.close();
          }
          store.close();
          ShardWriter late = ShardWriter.create(schema, rank.options());
          assertThatThrownBy(() -> store.add("late", late))
              .isInstanceOf(IllegalStateException.class);
        });
  }

  private static void assertUsable(DDStore store, RankEnv rank) {
    long[] indices = Rows.shuffledTwice(Rows.first(rank.ranks()), 3);
    Tensor got = Rows.room(store.variable("x").schema().field(0), indices.length);
    store.getBatch("x", got, indices);
    assertThat(got.toByteArray()).isEqualTo(Rows.longs(1, indices));
    String name = "usable" + store.info().variables().size();
    assertThat(Rows.addLongs(store, name, 4).rows()).isEqualTo(Rows.first(rank.ranks()));
  }
}
