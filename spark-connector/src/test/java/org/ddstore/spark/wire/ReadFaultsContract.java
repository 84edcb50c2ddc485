// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.ddstore.spark.wire.Troubles.OTHER;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rank 0 reads rows of rank 1, which is on another host, while something happens to the way. */
@Tag("always")
public abstract class ReadFaultsContract extends TroubledRanks {
  private static final Duration COLLECTIVES = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofSeconds(1);

  /**
   * @param backend by the root of its files
   */
  public ReadFaultsContract(Function<Path, RankBackend> backend) {
    super(backend);
  }

  @Test
  void reportsAKilledPeerBeforeTheDeadline() throws Exception {
    troubles.ranks().processes().runLosing(OTHER, 2, COLLECTIVES, ReadFaultsContract::lose);
    troubles
        .ranks()
        .run(2, COLLECTIVES, NumberedRows::openStore); // deletes files of the lost process
  }

  /** Kills rank 1 while rank 0 reads its rows, then reads the rows of rank 0. */
  public static void lose(RankEnv rank) throws Exception {
    try (DDStore store = rank.open(rank.options().readTimeout(LONG))) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == OTHER) {
        new Reading(x, 0).awaitFailure(); // until it is killed
      }
      Reading reading = new Reading(x, OTHER);
      rank.meeting().act(Troubles.KILL);
      assertLost(reading.awaitFailure());
      assertLost(new Reading(x, OTHER).awaitFailure());
      try (Reader reader = x.reader()) {
        NumberedRows.check(reader, NumberedRows.all(0));
      }
    }
  }

  private static void assertLost(Throwable e) {
    assertThat(e)
        .isInstanceOfSatisfying(
            RankLostException.class, lost -> assertThat(lost.rank()).isEqualTo(OTHER))
        .hasMessageContaining("rank 1");
  }

  @Test
  void readsTimeOutOnAStoppedPeerAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> interrupt(rank, store, Troubles.STOP, Troubles.PROCEED));
  }

  @Test
  void readsTimeOutOnACutLinkAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> interrupt(rank, store, Troubles.DROP, Troubles.RESTORE));
  }

  @Test
  void readsTimeOutOnADisabledLinkAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> interrupt(rank, store, Troubles.DOWN, Troubles.RESTORE));
  }

  @Test
  void readsTimeOutOnATooSlowLinkAndRecover() throws Exception {
    troubles.read(SHORT, (rank, store) -> interrupt(rank, store, Troubles.CRAWL, Troubles.RESTORE));
  }

  private static void interrupt(RankEnv rank, DDStore store, String trouble, String end)
      throws Exception {
    Variable x = store.variable(NumberedRows.NAME);
    Reading reading = new Reading(x, OTHER);
    rank.meeting().act(trouble);
    assertThat(reading.awaitFailure())
        .isExactlyInstanceOf(DeadlineExceededException.class)
        .hasMessageContaining("rank 1 at")
        .hasMessageContaining("within 1000 ms");
    rank.meeting().act(end);
    Reading.awaitSuccess(x, OTHER);
  }

  @Test
  void readsWaitForASlowLink() throws Exception {
    troubles.read(LONG, (rank, store) -> readAll(rank, store, Troubles.SLOW));
  }

  @Test
  void readsWaitForADelayedLink() throws Exception {
    Optional<String> missing = troubles.missingForDelay();
    missing.ifPresent(reason -> System.out.println("skipped, no delay: " + reason));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    troubles.read(LONG, (rank, store) -> readAll(rank, store, Troubles.DELAY));
  }

  private static void readAll(RankEnv rank, DDStore store, String trouble) {
    rank.meeting().act(trouble);
    try (Reader reader = store.variable(NumberedRows.NAME).reader()) {
      NumberedRows.check(reader, NumberedRows.all(OTHER));
    }
  }

  @Test
  void readsSurviveAShortFault() throws Exception {
    troubles.read(
        LONG,
        (rank, store) -> {
          Reading reading = new Reading(store.variable(NumberedRows.NAME), OTHER);
          rank.meeting().act(Troubles.DROP);
          rank.meeting().act(Troubles.RESTORE);
          reading.awaitMore();
          rank.meeting().act(Troubles.STOP);
          rank.meeting().act(Troubles.PROCEED);
          reading.awaitMore();
          reading.thread().interrupt();
          assertThat(reading.awaitFailure()).hasMessageContaining("interrupted");
        });
  }

  @Test
  void interruptEndsTheWaitForAStoppedPeer() throws Exception {
    troubles.read(
        LONG,
        (rank, store) -> {
          Reading reading = new Reading(store.variable(NumberedRows.NAME), OTHER);
          rank.meeting().act(Troubles.STOP);
          reading.thread().interrupt();
          assertThat(reading.awaitFailure())
              .isExactlyInstanceOf(DDStoreException.class)
              .hasMessageContaining("interrupted");
          rank.meeting().act(Troubles.PROCEED);
          Reading.awaitSuccess(store.variable(NumberedRows.NAME), OTHER);
        });
  }
}
