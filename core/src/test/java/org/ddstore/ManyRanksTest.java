// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LocalGroup;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** What grows with the number of ranks: catalog and placement, at the limit and over it. */
class ManyRanksTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final int RANKS = GroupEndpoint.MAX_SIZE;

  @Test
  void readsRowsOfAsManyProcessesAsRanksArePermitted() {
    Schema schema = Schema.of(Field.fixed("x", DType.INT64));
    ProcessAddress[] processes =
        IntStream.range(0, RANKS)
            .mapToObj(rank -> new ProcessAddress("host", 1, rank))
            .toArray(ProcessAddress[]::new);
    Variable variable = ComputedPeers.ofFixed(schema, TIMEOUT).inCopies(processes);
    long last = variable.rows() - 1;

    assertThat(last).isEqualTo(RANKS * (long) ComputedPeers.RANK_ROWS - 1);
    assertThat(variable.rowsOf(RANKS - 1)).isEqualTo(ComputedPeers.RANK_ROWS);
    try (Reader reader = variable.reader();
        Batch batch = reader.getBatch(last, 0, last / 2)) {
      assertThat(batch.field("x").toLongArray()).containsExactly(last, 0, last / 2);
    }
    variable.free();
  }

  @Test
  void refusesOneRankMore() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LocalGroup.create(RANKS + 1, TIMEOUT))
        .withMessage("size %d outside [1, %d]", RANKS + 1, RANKS);
  }

  @Test
  void ranksOfAProcessShareTheCatalog() {
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT);
    List<Communicator> groups = LocalGroup.create(2, TIMEOUT);
    List<CompletableFuture<DDStore>> opening =
        groups.stream()
            .map(
                ranks ->
                    CompletableFuture.supplyAsync(
                        () -> open(ranks, options), rank -> new Thread(rank).start()))
            .toList();
    List<DDStore> stores = opening.stream().map(CompletableFuture::join).toList();

    List<List<SegmentAddress>> addresses =
        stores.stream().map(store -> store.variable("x").addresses()).toList();
    for (int rank = 0; rank < 2; rank++) {
      assertThat(addresses.get(1).get(rank)).isSameAs(addresses.get(0).get(rank));
    }
    byte[] bytes = stores.get(0).catalog().toBytes();
    Catalog parsed = Catalog.parse(bytes);
    assertThat(Catalog.parse(bytes.clone())).isSameAs(parsed);
    stores.forEach(DDStore::close);
    groups.forEach(Communicator::close);
  }

  private static DDStore open(Communicator ranks, StoreOptions options) {
    DDStore store = DDStore.open(ranks, options);
    store.add("x", Tensor.wrap(new long[] {ranks.rank()}, 1));
    return store;
  }
}
