// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.List;
import org.ddstore.AttachedStore;
import org.ddstore.Batch;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.ReadableStore;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.memory.RowDigest;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** Shards that belong to no store: many stores, one after the other, are made of them. */
interface AdoptContract extends Contract {
  int ROWS = 5;
  Schema SCHEMA = Schema.of(Field.fixed("id", DType.INT64), Field.string("text"));

  default boolean readsSingleShards() {
    return true;
  }

  private static Shard shard(RankEnv rank, int ofRank, int rows) {
    ShardWriter writer = ShardWriter.create(SCHEMA, rank.options());
    for (int i = 0; i < rows; i++) {
      long row = (long) ofRank * rows + i;
      writer.append(new long[] {row}, "row " + row);
    }
    return rank.seal(writer);
  }

  private static Catalog catalog(RankEnv rank, Shard mine, int rankOfFirst) {
    byte[][] told = rank.meeting().tell(mine.address().toBytes());
    SegmentAddress[] addresses = new SegmentAddress[told.length];
    Arrays.setAll(
        addresses, i -> SegmentAddress.parse(told[Math.floorMod(i - rankOfFirst, told.length)]));
    return Catalog.of(told.length, "rows", SCHEMA, List.of(addresses));
  }

  private static void checkRows(ReadableStore store, int rows) {
    long[] backwards = new long[rows];
    Arrays.setAll(backwards, i -> rows - 1 - i);
    try (Batch batch = store.getBatch("rows", backwards)) {
      for (int i = 0; i < rows; i++) {
        assertThat(batch.field("id").getLong(i)).isEqualTo(backwards[i]);
        assertThat(batch.string("text", i)).isEqualTo("row " + backwards[i]);
      }
    }
  }

  @Test
  default void adoptsShardsInSuccessiveStores() throws Exception {
    assumeTrue(readsSingleShards(), "rows are read by what all ranks have made together");
    run(
        rank -> {
          try (Shard mine = shard(rank, rank.rank(), ROWS)) {
            Catalog catalog = Catalog.parse(catalog(rank, mine, 0).toBytes());
            RowDigest digest = new RowDigest();
            for (long part :
                rank.tell(mine.digest((long) rank.rank() * ROWS).low())) { // halves add up alone
              digest.add(0, part);
            }
            for (int round = 0; round < 2; round++) {
              try (DDStore store = rank.open()) {
                store.adopt(List.of(catalog));
                checkRows(store, rank.ranks() * ROWS);
                assertThat(store.variable("rows").localRows()).isEqualTo(ROWS);
                assertThat(store.digest("rows")).endsWith(digest.toString().substring(16));
                store.add("own", Tensor.wrap(new long[] {rank.rank()}));
                long[] own = new long[rank.ranks()];
                store.get("own", Tensor.wrap(own), 0);
                assertThat(own[rank.ranks() - 1]).isEqualTo(rank.ranks() - 1L);
                rank.meet();
              }
              rank.meet();
            }
          }
          rank.meet();
        });
  }

  @Test
  default void adoptedRowsCannotBeChanged() throws Exception {
    assumeTrue(readsSingleShards(), "rows are read by what all ranks have made together");
    run(
        rank -> {
          try (Shard mine = shard(rank, rank.rank(), ROWS);
              DDStore store = rank.open()) {
            Catalog catalog = catalog(rank, mine, 0);
            store.adopt(List.of(catalog));
            assertThatThrownBy(() -> store.adopt(List.of(catalog)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"rows\" was added before");
            assertThatThrownBy(() -> store.update("rows", Tensor.wrap(new long[] {1}), 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot be updated");
            ShardWriter more = ShardWriter.create(SCHEMA, rank.options());
            assertThatThrownBy(() -> store.append("rows", more))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot be appended to");
            checkRows(store, rank.ranks() * ROWS);
            rank.meet();
          }
          rank.meet();
        });
  }

  @Test
  default void rejectsDifferentCatalogsAmongRanks() throws Exception {
    assumeTrue(readsSingleShards(), "rows are read by what all ranks have made together");
    run(
        rank -> {
          try (Shard mine = shard(rank, rank.rank(), ROWS);
              Shard other = shard(rank, rank.rank(), ROWS + 1);
              DDStore store = rank.open()) {
            Catalog first = catalog(rank, mine, 0);
            Catalog second = catalog(rank, other, 0);
            assertThatThrownBy(() -> store.adopt(List.of(rank.rank() == 1 ? second : first)))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("rank 1");
            assertThatThrownBy(() -> store.adopt(List.of(first, second)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("variable \"")
                .hasMessageContaining("is not a copy of");
            store.adopt(List.of(first));
            checkRows(store, rank.ranks() * ROWS);
            rank.meet();
          }
          rank.meet();
        });
  }

  /** Copy 0 of a rank's rows is its own, copy 1 is the next rank's. */
  @Test
  default void readerFailsOverToAnotherCopy() throws Exception {
    assumeTrue(readsSingleShards(), "rows are read by what all ranks have made together");
    boolean network = readsOverANetwork();
    run(
        rank -> {
          int before = Math.floorMod(rank.rank() - 1, rank.ranks());
          Shard mine = shard(rank, rank.rank(), ROWS);
          Shard copy = shard(rank, before, ROWS);
          try (mine;
              copy) {
            List<Catalog> copies = List.of(catalog(rank, mine, 0), catalog(rank, copy, -1));
            int rows = rank.ranks() * ROWS;
            try (AttachedStore attached = rank.attach(copies)) {
              checkRows(attached, rows);
              rank.meet();
              if (rank.rank() == 0) {
                mine.close();
              }
              rank.meet();
              checkRows(attached, rows);
              try (AttachedStore later = rank.attach(copies)) {
                checkRows(later, rows);
              }
              rank.meet();
              if (rank.rank() == 1) {
                copy.close();
              }
              rank.meet();
              if (network) {
                assertThatThrownBy(() -> checkRows(attached, rows))
                    .isInstanceOf(DDStoreException.class);
              } else {
                checkRows(attached, rows);
              }
            }
            rank.meet(); // in a process the memory stays as long as one of its ranks has it
            if (!network) {
              assertThatThrownBy(() -> rank.attach(copies).close())
                  .isInstanceOf(DDStoreException.class)
                  .hasMessageContaining("rank 0");
            }
            rank.meet();
          }
          rank.meet();
        });
  }
}
