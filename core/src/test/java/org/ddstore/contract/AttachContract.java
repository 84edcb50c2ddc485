// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.Arrays;
import org.ddstore.AttachedStore;
import org.ddstore.Batch;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.Tensor;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** Readers that own no shard: they have the catalog alone. */
interface AttachContract extends Contract {

  static AttachedStore attach(RankEnv rank, Catalog catalog) {
    return rank.attach(Catalog.parse(catalog.toBytes()));
  }

  static long[] read(AttachedStore store, int rows) {
    long[] values = new long[rows];
    store.get("x", Tensor.wrap(values), 0);
    return values;
  }

  @Test
  default void attachedReaderSeesAllRows() throws Exception {
    runWithStore(
        (rank, store) -> {
          long base = 10L * rank.rank();
          store.add("x", Tensor.wrap(new long[] {base, base + 1}));
          ShardWriter texts = ShardWriter.create(Schema.of(Field.string("t")), rank.options());
          texts.append("rank " + rank.rank());
          store.add("texts", texts);
          long[] expected = new long[2 * rank.ranks()];
          Arrays.setAll(expected, i -> 10L * (i / 2) + i % 2);
          try (AttachedStore attached = attach(rank, store.catalog())) {
            assertThat(store.explain())
                .contains("rank %d holds ".formatted(rank.rank()))
                .contains("\"x\" Schema[x: int64]: %d rows".formatted(expected.length));
            assertThat(attached.rank()).isEqualTo(-1);
            assertThat(attached.ranks()).isEqualTo(rank.ranks());
            assertThat(read(attached, expected.length)).isEqualTo(expected);
            assertThat(attached.variable("x").localRows()).isZero();
            for (int r = 0; r < rank.ranks(); r++) {
              try (Batch batch = attached.getBatch("texts", r)) {
                assertThat(batch.string("t", 0)).isEqualTo("rank " + r);
              }
            }
            for (StoreInfo.Extent extent : attached.info().variables().get(0).extents()) {
              ReadPath path = rank.pathTo(extent.rank());
              assertThat(extent.path()).isEqualTo(path);
            }
          }
          rank.meet();
        });
  }

  @Test
  default void attachedReaderSeesUpdatesButNotAppends() throws Exception {
    runWithStore(
        (rank, store) -> {
          store.add("x", Tensor.wrap(new long[] {1}));
          try (AttachedStore attached = attach(rank, store.catalog())) {
            store.update("x", Tensor.wrap(new long[] {2}), 0);
            store.epochBegin();
            assertThat(read(attached, rank.ranks())).containsOnly(2);
            store.epochEnd();
            Catalog before = store.catalog();
            store.append("x", Tensor.wrap(new long[] {3}));
            try (AttachedStore old = attach(rank, before)) {
              assertThat(old.variable("x").rows()).isEqualTo(rank.ranks());
            }
            assertThat(attached.variable("x").rows()).isEqualTo(rank.ranks());
            try (AttachedStore later = attach(rank, store.catalog())) {
              long[] all = read(later, 2 * rank.ranks());
              assertThat(Arrays.copyOf(all, rank.ranks())).containsOnly(2);
              assertThat(Arrays.copyOfRange(all, rank.ranks(), all.length)).containsOnly(3);
            }
          }
          rank.meet();
        });
  }

  @Test
  default void attachedStoreStaysReadableAfterTheRanksClose() throws Exception {
    assumeFalse(readsOverANetwork(), "only memory stays when its owner closes");
    run(
        rank -> {
          AttachedStore attached;
          Catalog catalog;
          try (DDStore store = rank.open()) {
            store.add("x", Tensor.wrap(new long[] {7}));
            catalog = store.catalog();
            attached = attach(rank, catalog);
            rank.meet();
          }
          rank.meet();
          try (attached) {
            assertThat(read(attached, rank.ranks())).containsOnly(7);
          }
          rank.meet();
          assertThatThrownBy(() -> attach(rank, catalog))
              .isInstanceOf(DDStoreException.class)
              .hasMessageContaining("rank 0")
              .hasMessageContaining("cannot be reached");
          assertThatThrownBy(() -> attached.variable("x"))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageStartingWith("closed: AttachedStore");
        });
  }

  @Test
  default void rejectsMalformedCatalogs() throws Exception {
    run(
        1,
        rank -> {
          try (DDStore store = rank.open()) {
            store.init("x", 3, DType.FLOAT32, 2);
            byte[] good = store.catalog().toBytes();
            for (int length = 0; length < good.length; length++) {
              byte[] cut = Arrays.copyOf(good, length);
              assertThatThrownBy(() -> Catalog.parse(cut))
                  .isInstanceOf(IllegalArgumentException.class);
            }
            byte[] newer = good.clone();
            newer[0] = 9;
            assertThatThrownBy(() -> Catalog.parse(newer)).hasMessageContaining("version 9");
          }
        });
  }
}
