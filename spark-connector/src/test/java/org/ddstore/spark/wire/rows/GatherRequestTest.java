// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The owner decodes the rows that a reader encodes, however they are cut into pieces. */
class GatherRequestTest {
  private static final int ROWS = 1000;
  private static final ProcessAddress PEER = new ProcessAddress("127.0.0.1", 1, 1);

  private final Schema schema = Schema.of(Field.fixed("x", DType.UINT8, 7));
  private final List<Segment> segments = Stream.generate(this::segment).limit(3).toList();
  private final PeerRows rows = new PeerRows(PEER, new StagingBudget());

  /** Number of the segment and row, in the order of the slots. */
  private final List<long[]> slots = new ArrayList<>();

  private Segment segment() {
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "x", schema)) {
      for (int row = 0; row < ROWS; row++) {
        writer.append(ByteBuffer.allocate(7));
      }
      return writer.seal();
    }
  }

  @AfterEach
  void release() {
    segments.forEach(Segment::release);
    rows.free();
  }

  private void addRun(int segment, int number, long first, int count) {
    Segment of = segments.get(segment);
    rows.beginRun(new RemoteSegment(of.nonce(), PEER, segment, ROWS, 7), number, first);
    for (int i = 0; i < count; i++) {
      rows.addRow();
      slots.add(new long[] {segment, first + i});
    }
  }

  private void addRuns(int segment, int number, int runs, int maxRows, Random random) {
    long next = random.nextInt(5);
    for (int r = 0; r < runs; r++) {
      int count = 1 + random.nextInt(maxRows);
      addRun(segment, number, next, count);
      next += count + 1 + random.nextInt(5);
    }
  }

  private GatherRequest request(int from, int to) {
    int run = rows.runOf(from);
    return new GatherRequest(run, rows.runOf(to - 1) + 1, from, to, false, 0, 1, 0);
  }

  /** Checks the rows that the owner takes from a request for the slots [from, to). */
  private void assertTaken(int from, int to) {
    ByteBuffer request = request(from, to).encode(Nonce.random(), rows);
    request.position(1 + Handshake.STORE_BYTES + GatherRequest.BODY_HEADER_BYTES - Integer.BYTES);
    RequestedRows taken = new RequestedRows();
    try {
      assertThat(taken.decode(request, this::find)).isTrue();
      int slot = from;
      for (int run = 0; run < taken.runs(); run++) {
        for (int i = 0; i < taken.rows(run); i++) {
          assertThat(taken.segment(run)).isSameAs(segments.get((int) slots.get(slot)[0]));
          assertThat(taken.row(run, i)).isEqualTo(slots.get(slot++)[1]);
        }
      }
      assertThat(slot).as("slots of [%d, %d)", from, to).isEqualTo(to);
      assertThat(taken.rows()).isEqualTo(to - from);
    } finally {
      taken.release();
    }
  }

  private Segment find(Nonce nonce) {
    Segment found =
        segments.stream().filter(s -> s.nonce().equals(nonce)).findFirst().orElseThrow();
    assertThat(found.retain()).isTrue();
    return found;
  }

  /** Only the runs of the second segment have several rows. */
  @Test
  void ownerTakesTheRowsOfEveryPiece() {
    Random random = new Random(5);
    addRuns(0, 0, 9, 1, random);
    addRuns(2, 1, 6, 5, random);
    addRuns(1, 2, 4, 1, random);
    rows.endRuns();
    for (int from = 0; from < rows.rows(); from++) {
      for (int to = from + 1; to <= rows.rows(); to++) {
        assertTaken(from, to);
      }
    }
  }

  @Test
  void omitsTheLengthsOfSingleRows() {
    addRuns(0, 0, 100, 1, new Random(6));
    rows.endRuns();
    assertTaken(0, 100);
    GatherRequest all = request(0, 100);
    assertThat(all.encode(Nonce.random(), rows).remaining())
        .isEqualTo(1 + Handshake.STORE_BYTES + all.maxBodyBytes(rows))
        .isEqualTo(GatherRequest.HEADER_BYTES + GatherRequest.SEGMENT_BYTES + 100 * Long.BYTES);
  }

  /** A run of which a piece takes one row only. */
  @Test
  void cutsARunToOneRow() {
    addRun(0, 0, 3, 10);
    rows.endRuns();
    for (int slot = 0; slot < 10; slot++) {
      assertTaken(slot, slot + 1);
    }
    assertTaken(2, 9);
  }
}
