// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random collectives, against what one rank alone computes; also over a bad network. */
@Timeout(300)
class RandomCollectivesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int CALLS = 300;
  private static final int CALLS_WITH_CUTS = 100; // each loss costs 20 ms or more
  private static final int RANKS = 4;

  private final List<Means> processes = new ArrayList<>();
  private final List<Communicator> group = new ArrayList<>();
  private TestDirectory host;
  private TestDirectory otherHost;

  @BeforeEach
  void createDirectories() throws Exception {
    host = TestDirectory.create();
    otherHost = TestDirectory.create();
  }

  @AfterEach
  void closeAll() throws Exception {
    group.forEach(Communicator::close);
    processes.forEach(Means::close);
    host.close();
    otherHost.close();
    Ranks.assertNoThreadLeft();
  }

  private void connect(Means.Kind kind) throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      if (rank != 1) {
        boolean away = rank == 3 && kind != Means.Kind.FILES;
        processes.add(Means.open(kind, away ? otherHost.root() : host.root()));
      }
      LaneExchange exchange = processes.get(processes.size() - 1).exchange();
      endpoints.add(GroupEndpoint.create(exchange, rank, RANKS));
    }
    group.addAll(Ranks.connect(endpoints, TIMEOUT));
  }

  private void run(long seed, int calls) throws Exception {
    Ranks.values(
        group,
        c -> {
          new RandomCollectives(c, seed).run(calls);
          return null;
        });
  }

  @Test
  void matchesTheOracleInOneProcess() throws Exception {
    group.addAll(LocalGroup.create(RANKS, TIMEOUT));
    run(CommunicatorContract.seed(), CALLS);
  }

  @ParameterizedTest
  @EnumSource
  void matchesTheOracleOverEveryKindOfExchange(Means.Kind kind) throws Exception {
    connect(kind);
    run(CommunicatorContract.seed(), CALLS);
  }

  @ParameterizedTest
  @EnumSource(names = {"MESSAGES", "MIXED"})
  @Tag("slow")
  void matchesTheOracleWhileConnectionsBreak(Means.Kind kind) throws Exception {
    connect(kind);
    long seed = CommunicatorContract.seed();
    Thread cutter = new Thread(() -> cut(new Random(seed)), Ranks.THREAD_PREFIX + "cutter");
    cutter.start();
    try {
      run(seed, CALLS_WITH_CUTS);
    } finally {
      cutter.interrupt();
      cutter.join();
    }
  }

  private void cut(Random random) {
    int cuts = 0;
    while (!Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(20_000)));
      SocketMessenger messenger = processes.get(random.nextInt(processes.size())).messenger();
      messenger.cut();
      if (random.nextInt(10) == 0) {
        messenger.setDown(true);
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(50_000)));
        messenger.setDown(false);
      }
      cuts++;
    }
    System.out.println(cuts + " cuts");
  }
}
