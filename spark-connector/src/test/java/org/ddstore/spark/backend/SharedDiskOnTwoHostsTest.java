// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreInfo;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.ReduceOp;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.wire.TcpBackend;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DType;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * 3 processes on two hosts whose files lie in one directory that both hosts see, as on NFS: files
 * of the other host open and have the right nonce, and must not be mapped.
 */
@NeedsTwoHosts
@Timeout(120)
@Tag("slow")
class SharedDiskOnTwoHostsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int HOSTS = 2;
  private static final int RANKS = 3;
  private static final int ROWS = 100;

  private Path root;

  /** Ranks that map files and lanes of their own host, and reach the other one by tcp. */
  private record Backend(StoreToken token, String root) implements RankBackend {
    @Override
    public List<String> directories() {
      return List.of(); // a process keeps its directory from scenario to scenario
    }

    @Override
    public List<String> jvmOptions() {
      return List.of(JavaModuleOptions.defaultModuleOptions().split(" "));
    }

    @Override
    public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
      WireSession wire = TcpBackend.open(token, TcpBackend.options(false, meeting.address()));
      return new RankEnv(
          meeting,
          FilesBackend.join(wire.lanes(Path.of(root), true), meeting, timeout),
          wire,
          StoreOptions.defaults().files(Path.of(root)).readTimeout(TIMEOUT),
          owner -> path(meeting.rank(), owner));
    }
  }

  private static ReadPath path(int rank, int owner) {
    if (rank == owner) {
      return ReadPath.OWN_PROCESS;
    }
    return rank % HOSTS == owner % HOSTS ? ReadPath.SAME_HOST : ReadPath.REMOTE;
  }

  @BeforeEach
  void createRoot() throws IOException {
    root = TestRoots.onDisk();
  }

  @AfterEach
  void deleteRoot() throws IOException {
    TestRoots.delete(root);
  }

  @Test
  void neitherMapsNorSweepsFilesOfAnotherHost() throws Exception {
    try (TwoHostRanks ranks =
        TwoHostRanks.alternating(new Backend(StoreToken.random(), root.toString()))) {
      ranks.run(RANKS, TIMEOUT, SharedDiskOnTwoHostsTest::play);
    }
  }

  private static void play(RankEnv rank) throws Exception {
    try (DDStore store = rank.open()) {
      store.init("x", ROWS, DType.INT64, 1);
      List<StoreInfo.Extent> extents = store.info().variables().get(0).extents();
      for (int owner = 0; owner < RANKS; owner++) {
        assertThat(extents.get(owner).path()).isEqualTo(rank.pathTo(owner));
      }
      for (long epoch = 1; epoch <= 3; epoch++) {
        update(store, epoch);
        store.epochBegin();
        assertRows(store, epoch);
        store.epochEnd();
        long[] sum = {rank.rank()};
        rank.group().allReduce(sum, ReduceOp.SUM);
        assertThat(sum).containsExactly(RANKS * (RANKS - 1) / 2);
      }
      Path root = rank.options().directory();
      ProcessDirectory.sweepDead(root);
      rank.meet();
      try (Stream<Path> directories = Files.list(root)) {
        assertThat(directories).as("directories of living processes").hasSize(RANKS);
      }
      rank.meet();
    }
  }

  private static void update(DDStore store, long epoch) {
    long[] rows = new long[ROWS];
    for (int i = 0; i < ROWS; i++) {
      rows[i] = epoch * 1_000_000 + (long) store.rank() * ROWS + i;
    }
    store.update("x", Tensor.wrap(rows, ROWS, 1), 0);
  }

  private static void assertRows(DDStore store, long epoch) {
    try (Reader reader = store.variable("x").reader()) {
      for (long row = 0; row < (long) RANKS * ROWS; row++) {
        try (Batch batch = reader.getBatch(row)) {
          assertThat(batch.field("x").getLong(0)).isEqualTo(epoch * 1_000_000 + row);
        }
      }
    }
  }
}
