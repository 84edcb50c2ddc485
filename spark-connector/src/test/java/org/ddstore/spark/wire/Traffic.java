// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.ReduceOp;
import org.ddstore.types.Backing;

/**
 * Two ranks of this JVM, each with a network end of its own, that read each other's rows and reduce
 * all the time and check every byte: to see what becomes of them while others do harm.
 */
public final class Traffic implements AutoCloseable {
  static final int ROWS_PER_RANK = 500;
  static final int ELEMENTS = 40;
  static final String VARIABLE = "x";

  private static final int RANKS = 2;
  private static final int ROWS_PER_BATCH = 64;
  private static final int ROUNDS = 30;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<WireSession> sessions;
  private final ExecutorService threads = Executors.newFixedThreadPool(RANKS);
  private final List<CompletableFuture<Void>> ranks = new ArrayList<>();
  private final AtomicLong round = new AtomicLong();
  private volatile boolean stopping;

  /**
   * @param sessions of ranks 0 and 1; closed with this
   */
  public Traffic(WireSession... sessions) throws Exception {
    this.sessions = List.of(sessions);
    List<GroupEndpoint> endpoints = new ArrayList<>();
    List<byte[]> addresses = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      endpoints.add(GroupEndpoint.create(sessions[rank].lanes(null, false), rank, RANKS));
      addresses.add(endpoints.get(rank).address());
    }
    for (int rank = 0; rank < RANKS; rank++) {
      GroupEndpoint endpoint = endpoints.get(rank);
      WireSession session = sessions[rank];
      ranks.add(start(() -> run(endpoint.connect(addresses, PATIENCE), session)));
    }
    assertFlows();
  }

  private CompletableFuture<Void> start(Callable<Void> work) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            done.complete(work.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private Void run(Communicator group, WireSession session) {
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT).shortcut(false);
    try (group;
        DDStore store = DDStore.open(group, session, options)) {
      int first = group.rank() * ROWS_PER_RANK;
      Tensor own = Tensor.wrap(rows(first, ROWS_PER_RANK), ROWS_PER_RANK, ELEMENTS);
      Random random = new Random(first);
      try (Reader reader = store.add(VARIABLE, own).reader()) {
        while (agree(group)) {
          check(reader, random.longs(ROWS_PER_BATCH, 0, RANKS * ROWS_PER_RANK).toArray());
        }
      }
      group.barrier(); // a close is local, and ends the other's reads
    }
    return null;
  }

  /** False once any rank is to stop. */
  private boolean agree(Communicator group) {
    long[] said = {group.rank(), stopping ? 1 : 0};
    group.allReduce(said, ReduceOp.SUM);
    assertThat(said[0]).as("sum of ranks").isEqualTo(1);
    round.incrementAndGet();
    return said[1] == 0;
  }

  private static void check(Reader reader, long... indices) {
    try (Batch batch = reader.getBatch(indices)) {
      long[] got = batch.field(VARIABLE).toLongArray();
      for (int i = 0; i < indices.length; i++) {
        assertThat(Arrays.copyOfRange(got, i * ELEMENTS, (i + 1) * ELEMENTS))
            .as("row %d", indices[i])
            .isEqualTo(rows(indices[i], 1));
      }
    }
  }

  /** Returns the expected values of consecutive rows. */
  static long[] rows(long first, int count) {
    long[] values = new long[count * ELEMENTS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (first * ELEMENTS + i) * 0x9E3779B97F4A7C15L;
    }
    return values;
  }

  /** Waits until both ranks have made progress; throws the failure of a rank. */
  public void assertFlows() throws Exception {
    long goal = round.get() + RANKS * ROUNDS;
    await("traffic")
        .pollInterval(Duration.ofMillis(5))
        .atMost(PATIENCE)
        .until(() -> round.get() >= goal || ranks.stream().anyMatch(CompletableFuture::isDone));
    for (CompletableFuture<Void> rank : ranks) {
      if (rank.isCompletedExceptionally()) {
        rank.get();
      }
    }
  }

  @Override
  public void close() {
    stopping = true;
    try {
      ranks.forEach(CompletableFuture::join);
    } finally {
      threads.shutdown();
      sessions.forEach(WireSession::close);
    }
  }
}
