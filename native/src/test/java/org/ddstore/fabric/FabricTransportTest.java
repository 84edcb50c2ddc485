// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.contract.ThreadCpu;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.read.Placement;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.StoreGoneException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows read through libfabric over loopback, inside one JVM. */
@NeedsFabric
@Timeout(120)
class FabricTransportTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final long SEED = 20_261_121;
  private static final int IDLE_SECONDS = 3;

  private final Processes processes = new Processes();
  private long liveBytes;
  private FabricTransport owner;
  private FabricTransport other;

  @BeforeEach
  void start() {
    liveBytes = OffHeapBuffer.liveBytes();
    owner = processes.start(1);
    other = processes.start(2);
  }

  @AfterEach
  void nothingIsLeft() {
    other.close();
    owner.close();
    assertThat(Registration.live()).as("registrations").isZero();
    assertThat(OffHeapBuffer.liveBytes()).as("bytes off the heap").isEqualTo(liveBytes);
    assertThat(threads()).as("threads").isEmpty();
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("ddstore-fabric"))
        .toList();
  }

  private void assertReads(Shard shard, long... indices) {
    owner.export(shard.segment());
    try (RemoteReader reader = other.newReader(TIMEOUT)) {
      Placement placement = shard.seenFrom(other, owner, 1);
      assertThat(shard.wrong(placement, reader, indices)).as("wrong rows").isEmpty();
      long[] backwards = LongStream.of(indices).map(i -> indices[indices.length - 1]).toArray();
      assertThat(shard.wrong(placement, reader, backwards)).as("wrong rows").isEmpty();
    } finally {
      owner.withdraw(shard.segment());
    }
  }

  private static long[] some(long rows, int count) {
    return new Random(SEED).longs(count, 0, rows).toArray();
  }

  /** It waits in libfabric for what comes, and looks only now and then whether it has to end. */
  @Test
  void idleServingThreadsUseAlmostNoCpu() throws IOException {
    try (Shard shard = Shard.fixed(1, 37, 5000)) {
      assertReads(shard, some(5000, 100));
      owner.export(shard.segment());
      List<String> serving = threads();
      assertThat(serving).as("threads").isNotEmpty();
      assertThat(ThreadCpu.ticksDuring(IDLE_SECONDS, serving.get(0))) // of all, or of the first
          .as("ticks of %s in %d s", serving, IDLE_SECONDS)
          .isLessThan(IDLE_SECONDS * ThreadCpu.TICKS_PER_SECOND / 5);
      owner.withdraw(shard.segment());
    }
  }

  @Test
  void readsFixedAndRaggedRows() {
    try (Shard fixed = Shard.fixed(1, 37, 5000);
        Shard sentOffsets = Shard.ragged(2, 5000);
        Shard readOffsets = Shard.ragged(3, 300_000)) { // offsets in three pieces of 2^17
      assertReads(fixed, some(5000, 3000));
      assertReads(sentOffsets, some(5000, 3000));
      assertReads(readOffsets, some(300_000, 3000));
      assertReads(readOffsets, LongStream.range((1 << 17) - 700, (1 << 17) + 700).toArray());
    }
  }

  @Test
  void readsRunsAcrossChunks() {
    int rowBytes = 1 << 20;
    try (Shard shard = Shard.fixed(4, rowBytes, 70)) { // chunks of 64 MiB
      assertThat(shard.segment().chunks()).isEqualTo(2);
      assertReads(shard, LongStream.range(60, 70).toArray());
    }
  }

  @Test
  void readsRowsOfItsOwnProcess() {
    try (Shard shard = Shard.fixed(5, 256, 100)) {
      owner.export(shard.segment());
      try (RemoteReader reader = owner.newReader(TIMEOUT)) {
        assertThat(shard.wrong(shard.seenFrom(owner, owner, 0), reader, some(100, 50))).isEmpty();
      }
      owner.withdraw(shard.segment());
    }
  }

  @Test
  void rejectsReadsOfAWithdrawnSegmentOnly() {
    try (Shard gone = Shard.fixed(6, 256, 100);
        Shard stays = Shard.fixed(7, 256, 100);
        RemoteReader reader = other.newReader(TIMEOUT)) {
      owner.export(gone.segment());
      owner.export(stays.segment());
      Placement ofGone = gone.seenFrom(other, owner, 1);
      Placement ofStays = stays.seenFrom(other, owner, 1);
      assertThat(gone.wrong(ofGone, reader, some(100, 50))).isEmpty();
      assertThat(stays.wrong(ofStays, reader, some(100, 50))).isEmpty();
      owner.withdraw(gone.segment());
      owner.withdraw(gone.segment());
      assertThatThrownBy(() -> gone.wrong(ofGone, reader, 1))
          .isInstanceOf(StoreGoneException.class)
          .hasMessageContaining("rank 1 at 127.0.0.1:1")
          .hasMessageContaining("has closed the store");
      assertThat(stays.wrong(ofStays, reader, some(100, 50))).isEmpty();
      owner.withdraw(stays.segment());
    }
  }

  @Test
  void reportsAnEndedProcessAsALostRank() {
    try (Shard shard = Shard.fixed(8, 256, 100);
        RemoteReader reader = other.newReader(TIMEOUT)) {
      owner.export(shard.segment());
      Placement placement = shard.seenFrom(other, owner, 1);
      assertThat(shard.wrong(placement, reader, 1)).isEmpty();
      owner.close(); // the way to it is closed, as the operating system does for a killed process
      processes.end(owner.local());
      assertThatThrownBy(() -> shard.wrong(placement, reader, 1))
          .isInstanceOf(RankLostException.class)
          .hasMessageContaining("rank 1");
    }
  }

  @Test
  void interruptEndsReadsThatNeverWait() {
    try (Shard shard = Shard.fixed(11, 256, 100);
        RemoteReader reader = other.newReader(TIMEOUT)) {
      owner.export(shard.segment());
      Placement placement = shard.seenFrom(other, owner, 1);
      assertThat(shard.wrong(placement, reader, 1)).isEmpty();
      Thread.currentThread().interrupt();
      try {
        assertThatThrownBy(() -> shard.wrong(placement, reader, 1))
            .isExactlyInstanceOf(DDStoreException.class)
            .hasMessageContaining("interrupted");
      } finally {
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
      }
      assertThat(shard.wrong(placement, reader, 1, 99)).isEmpty();
      owner.withdraw(shard.segment());
    }
  }

  @Test
  void rejectsUseAfterClose() {
    try (Shard shard = Shard.fixed(9, 256, 10)) {
      owner.close();
      owner.close();
      assertThatThrownBy(() -> owner.export(shard.segment()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: ");
    }
  }
}
