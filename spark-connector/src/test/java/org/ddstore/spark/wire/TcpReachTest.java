// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.ddstore.spark.wire.Troubles.OTHER;

import java.time.Duration;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.RankEnv;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.StoreGoneException;
import org.junit.jupiter.api.Test;

/** Reads from ranks that are unreachable, lost, or have closed their store. */
@NeedsTwoHosts
class TcpReachTest extends TroubledRanks {
  private static final Duration COLLECTIVES = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofSeconds(1);

  TcpReachTest() {
    super(TcpBackend::plain);
  }

  @Test
  void readsTimeOutOnAnUnreachableHostAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> reachLate(rank, store, Troubles.DROP, Troubles.RESTORE));
    troubles.read(SHORT, (rank, store) -> reachLate(rank, store, Troubles.DOWN, Troubles.RESTORE));
  }

  @Test
  void readsTimeOutOnAnUnansweredGreetingAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> reachLate(rank, store, Troubles.STOP, Troubles.PROCEED));
  }

  /** By a network end that has no connection yet. */
  private static void reachLate(RankEnv rank, DDStore store, String trouble, String end) {
    StoreOptions options = rank.options().readTimeout(SHORT);
    rank.meeting().act(trouble);
    try (WireSession fresh = freshSession(rank);
        AttachedStore attached = AttachedStore.open(store.catalog(), fresh, options)) {
      Variable x = attached.variable(NumberedRows.NAME);
      try (Reader reader = x.reader()) {
        assertThatThrownBy(() -> NumberedRows.check(reader, NumberedRows.all(OTHER)))
            .isExactlyInstanceOf(DeadlineExceededException.class)
            .hasMessageContaining("256 rows of rank 1 at");
      }
      rank.meeting().act(end);
      Reading.awaitSuccess(x, OTHER);
    }
  }

  private static WireSession freshSession(RankEnv rank) {
    WireOptions options = TcpBackend.options(false, rank.meeting().address());
    return Wire.joinAlone(TcpBackend.session().token(), options);
  }

  @Test
  void reportsAnOwnerThatLeftTheNetworkAsLost() throws Exception {
    troubles.ranks().run(2, COLLECTIVES, rank -> leave(rank, rank.options().readTimeout(LONG)));
  }

  /** Rank 1 has a store of its own, whose only rank is 0. */
  private static void leave(RankEnv rank, StoreOptions options) throws Exception {
    if (rank.rank() == OTHER) {
      try (WireSession fresh = freshSession(rank);
          Communicator alone = LocalGroup.create(1, COLLECTIVES).get(0);
          DDStore store = DDStore.open(alone, fresh, options)) {
        NumberedRows.add(store);
        rank.meeting().tell(store.catalog().toBytes());
        rank.meet();
      }
      rank.meet();
      return;
    }
    Catalog catalog = Catalog.parse(rank.meeting().tell(new byte[0])[OTHER]);
    try (AttachedStore attached = AttachedStore.open(catalog, TcpBackend.session(), options)) {
      Reading reading = new Reading(attached.variable(NumberedRows.NAME), 0);
      rank.meet();
      assertThat(reading.awaitFailure())
          .isInstanceOf(DDStoreException.class)
          .isNotInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("rank 0 at");
      rank.meet();
      assertThat(new Reading(attached.variable(NumberedRows.NAME), 0).awaitFailure())
          .isExactlyInstanceOf(RankLostException.class)
          .hasMessageEndingWith("has ended or has closed all its stores");
    }
  }

  @Test
  void namesTheOwnerThatClosedItsStore() throws Exception {
    troubles
        .ranks()
        .run(
            2,
            COLLECTIVES,
            rank -> {
              StoreOptions options = rank.options().readTimeout(LONG);
              try (DDStore store = DDStore.open(rank.group(), TcpBackend.session(), options)) {
                Variable x = NumberedRows.add(store);
                if (rank.rank() == 0) {
                  Reading reading = new Reading(x, OTHER);
                  rank.meet();
                  assertThat(reading.awaitFailure())
                      .isInstanceOf(StoreGoneException.class)
                      .hasMessageMatching("the process of rank 1 at .* has closed the store");
                } else {
                  rank.meet();
                }
              }
            });
  }
}
