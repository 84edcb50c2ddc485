// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ScanMemoryTest {
  private static final long MIB = 1L << 20;

  private final ScanMemory memory = new ScanMemory(64 * MIB);

  private static void awaitWaiting(Thread thread) {
    await(thread.getName()).until(() -> thread.getState() == Thread.State.WAITING);
  }

  @Test
  void boundsTheScansOfManyThreads() throws Exception {
    AtomicInteger scans = new AtomicInteger();
    List<Integer> seen = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(32);
    try {
      List<Future<Integer>> ends =
          IntStream.range(0, 200)
              .mapToObj(i -> threads.submit(() -> scan(i % 10 == 0 ? 1000 : 16, scans)))
              .toList();
      for (Future<Integer> end : ends) {
        seen.add(end.get());
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(seen).hasSize(200).allMatch(most -> most <= 4);
    assertThat(memory).hasToString("ScanMemory[64 of 64 MiB free]");
  }

  /** Returns the number of scans at the time of this one, which is alone if it needs more. */
  private int scan(int mebibytes, AtomicInteger scans) throws InterruptedException {
    ScanMemory.Share share = memory.take(mebibytes * MIB);
    try {
      int now = scans.incrementAndGet();
      LockSupport.parkNanos(100_000); // so that scans overlap
      scans.decrementAndGet();
      return mebibytes > 64 && now > 1 ? Integer.MAX_VALUE : now;
    } finally {
      share.close();
    }
  }

  @Test
  void aLargeScanIsNotOvertaken() throws Exception {
    ScanMemory.Share first = memory.take(16 * MIB);
    List<String> order = new ArrayList<>();
    Thread large = new Thread(() -> note("large", 64 * MIB, order), "large");
    large.start();
    awaitWaiting(large);
    Thread small = new Thread(() -> note("small", MIB, order), "small");
    small.start();
    awaitWaiting(small);

    first.close();
    large.join();
    small.join();

    assertThat(order).containsExactly("large", "small");
  }

  private void note(String name, long bytes, List<String> order) {
    try {
      ScanMemory.Share share = memory.take(bytes);
      order.add(name);
      share.close();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void estimatesColumnVectorsOfFilesByTheirRows() {
    assertThat(ScanMemory.estimate(0, Long.MAX_VALUE, 1 << 20)).isEqualTo(16 * MIB);
    assertThat(ScanMemory.estimate(6 * MIB, 1 << 20, 2048)).isEqualTo((8 + 12 + 16) * MIB);
    assertThat(ScanMemory.estimate(100 * MIB, 100, 1 << 20)).isEqualTo((8 + 200 + 200) * MIB);
  }

  @Test
  void anInterruptedWaitTakesNothing() throws Exception {
    ScanMemory.Share all = memory.take(64 * MIB);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> memory.take(MIB)).isInstanceOf(InterruptedException.class);

    all.close();
    all.close();

    assertThat(memory).hasToString("ScanMemory[64 of 64 MiB free]");
  }
}
