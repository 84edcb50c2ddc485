// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.ddstore.spark.wire.Troubles.OTHER;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreAccess;
import org.ddstore.Variable;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.DeadlineExceededException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Replies that arrive after the deadline of a read. */
@Tag("always")
public abstract class LateReplyContract extends TroubledRanks {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofSeconds(2);

  /** Finds the transport of a rank's process, there. */
  @FunctionalInterface
  protected interface OwnTransport extends Serializable {
    Transport get();
  }

  private final OwnTransport transport;
  private final int timesSent;

  /**
   * @param backend by the root of its files
   * @param timesSent how often the rows cross the network: more than once if replies arrive that no
   *     read waits for any longer
   */
  protected LateReplyContract(
      Function<Path, RankBackend> backend, OwnTransport transport, int timesSent) {
    super(backend);
    this.transport = transport;
    this.timesSent = timesSent;
  }

  @Test
  void discardsLateReplies() throws Exception {
    OwnTransport own = transport;
    AtomicLong sent = new AtomicLong();
    ProcessRanks processes = troubles.ranks().processes();
    processes.offer("remember", () -> sent.set(troubles.otherHost().sentBytes()));
    processes.offer(
        "all came",
        () ->
            assertThat(troubles.otherHost().sentBytes() - sent.get())
                .as("late replies and the last ones")
                .isGreaterThan((long) timesSent * NumberedRows.PER_RANK * NumberedRows.ROW_BYTES));
    troubles.ranks().run(2, LONG, rank -> readLate(rank, own));
  }

  /**
   * Requests all rows of rank 1 three times: no read waits any longer for the first two replies.
   */
  private static void readLate(RankEnv rank, OwnTransport own) {
    try (DDStore store = rank.open(rank.options().readTimeout(SHORT))) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == 0) {
        readLate(rank, x, own.get());
      }
      rank.meet();
    }
  }

  private static void readLate(RankEnv rank, Variable x, Transport transport) {
    Placement placement = StoreAccess.placement(x);
    long[] all = NumberedRows.all(OTHER);
    ReadPlan plan = new ReadPlan();
    ReadPlan later = new ReadPlan();
    try (RemoteReader remote = transport.newReader(SHORT);
        RemoteReader patient = transport.newReader(LONG);
        Reader reader = x.reader();
        Batch batch = reader.getBatch(all)) {
      fetch(plan, placement, remote, all);
      ByteBuffer staging = plan.source(0);
      rank.meeting().act("remember");
      rank.meeting().act(Troubles.STOP);
      assertThatThrownBy(() -> fetch(plan, placement, remote, all))
          .isExactlyInstanceOf(DeadlineExceededException.class);
      assertThatThrownBy(() -> reader.getBatch(batch, all))
          .isExactlyInstanceOf(DeadlineExceededException.class);
      byte[] kept = batch.field(NumberedRows.NAME).toByteArray();
      fill(staging);
      rank.meeting().act(Troubles.PROCEED);
      fetch(later, placement, patient, all); // if over the same connection, then in order
      rank.meeting().act("all came");
      assertThat(firstChange(staging)).as("first byte of the staging that changed").isEqualTo(-1);
      assertThat(batch.field(NumberedRows.NAME).toByteArray()).isEqualTo(kept);
      reader.getBatch(batch, all);
      NumberedRows.check(batch, all);
    } finally {
      plan.free();
      later.free();
    }
  }

  private static void fetch(
      ReadPlan plan, Placement placement, RemoteReader remote, long... indices) {
    plan.locate(placement, indices, 0, indices.length);
    plan.fetch(remote);
  }

  private static void fill(ByteBuffer staging) {
    for (int i = 0; i < staging.capacity(); i++) {
      staging.put(i, (byte) (i * 31));
    }
  }

  private static int firstChange(ByteBuffer staging) {
    for (int i = 0; i < staging.capacity(); i++) {
      if (staging.get(i) != (byte) (i * 31)) {
        return i;
      }
    }
    return -1;
  }
}
