// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads from two processes that have copies of each other's rows, and do not answer. */
@Timeout(60)
class GatherReaderTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final ProcessAddress A = new ProcessAddress("a", 1, 1);
  private static final ProcessAddress B = new ProcessAddress("b", 1, 2);
  private static final int RECORD_BYTES = 8;

  private final List<PeerRows> made = new ArrayList<>();
  private final long liveBytes = OffHeapBuffer.liveBytes();

  @AfterEach
  void free() {
    made.forEach(PeerRows::free);
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(liveBytes);
  }

  private PeerRows rows(ProcessAddress process, int rank) {
    PeerRows rows = new PeerRows(process, new StagingBudget());
    made.add(rows);
    rows.begin();
    rows.reserveRows(1);
    rows.beginRun(new RemoteSegment(Nonce.random(), process, rank, 1, RECORD_BYTES), 0, 0);
    rows.addRow();
    rows.endRuns();
    return rows;
  }

  private static boolean hasOther(ProcessAddress process, Set<ProcessAddress> excluded) {
    return !excluded.contains(process.equals(A) ? B : A);
  }

  @Test
  void keepsOneOfTwoSilentProcesses() {
    PeerRows ofA = rows(A, 0);
    PeerRows ofB = rows(B, 1);
    try (GatherReader reader = reader(new CompletableFuture<>())) {
      reader.begin(Duration.ofMillis(50), GatherReaderTest::hasOther);
      assertThatThrownBy(() -> reader.fetch(List.of(ofA, ofB)))
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("remote rows not received within 50 ms");
    }
    assertThat(ofA.isSilent()).as("left for its copy").isTrue();
    assertThat(ofB.isSilent()).as("the last copy").isFalse();
  }

  @Test
  void leavesAProcessWhosePathBreaksTwice() {
    PeerRows rows = rows(A, 0);
    try (GatherReader reader =
        reader(CompletableFuture.failedFuture(new IOException("reset by the test")))) {
      reader.begin(TIMEOUT, GatherReaderTest::hasOther);
      assertThatThrownBy(() -> reader.fetch(List.of(rows)))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("reset by the test");
    }
    assertThat(rows.isSilent()).as("left for its copy").isTrue();
  }

  private static GatherReader reader(CompletableFuture<DataPath> path) {
    RowPaths paths =
        new RowPaths() {
          @Override
          public Nonce store() {
            throw new UnsupportedOperationException();
          }

          @Override
          public CompletableFuture<DataPath> open(ProcessAddress process) {
            return path;
          }

          @Override
          public CompletableFuture<?> probe(ProcessAddress process) {
            throw new UnsupportedOperationException();
          }

          @Override
          public boolean mayBeAlive(ProcessAddress process) {
            return true;
          }
        };
    return new GatherReader(paths, TIMEOUT, true);
  }
}
