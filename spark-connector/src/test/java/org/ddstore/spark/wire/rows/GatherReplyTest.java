// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import java.util.Random;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Replies to channels that take a part of each write, whose rows change at any time between. */
class GatherReplyTest {
  private static final int ROWS = 6;

  private final long liveBytes = OffHeapBuffer.liveBytes();
  private final ByteBuffer packed = ByteBuffer.allocateDirect(DataLoop.PACKED_BYTES);
  private Segment small;
  private Segment large;

  @BeforeEach
  void write() {
    small = segment(100);
    large = segment(40_000);
  }

  @AfterEach
  void release() {
    small.release();
    large.release();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(liveBytes);
  }

  private static Segment segment(int bytes) {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, bytes));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "x", schema)) {
      for (int row = 0; row < ROWS; row++) {
        writer.append(ByteBuffer.wrap(record(row, bytes)));
      }
      return writer.seal();
    }
  }

  private static byte[] record(int row, int bytes) {
    byte[] record = new byte[bytes];
    new Random(row).nextBytes(record);
    return record;
  }

  /** A channel that takes only as many bytes of a write as it is told. */
  private static final class Narrow implements GatheringByteChannel {
    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private int room;

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
      int before = taken.size();
      for (ByteBuffer source : Arrays.asList(sources).subList(offset, offset + length)) {
        byte[] part = new byte[Math.min(room, source.remaining())];
        source.get(part);
        taken.writeBytes(part);
        room -= part.length;
      }
      return (long) taken.size() - before;
    }

    @Override
    public long write(ByteBuffer[] sources) {
      return write(sources, 0, sources.length);
    }

    @Override
    public int write(ByteBuffer source) {
      return (int) write(new ByteBuffer[] {source}, 0, 1);
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  private byte[] whole(Segment segment, byte status) {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.write(Status.OK);
    pad(whole, 1);
    for (int row = 0; row < ROWS; row++) {
      whole.writeBytes(record(row, segment.recordBytes(row)));
    }
    whole.write(status);
    whole.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(segment.version()).array());
    pad(whole, 1 + Long.BYTES);
    return whole.toByteArray();
  }

  /** Appends the zeros that fill a part of a reply to 64 bytes. */
  private static void pad(ByteArrayOutputStream whole, int partBytes) {
    whole.writeBytes(new byte[64 - partBytes]);
  }

  private GatherReply begin(Segment segment) {
    return begin(segment, 0, ROWS * segment.recordBytes(0));
  }

  private static GatherReply begin(Segment segment, int skip, int bytes) {
    ByteBuffer request =
        GatherRequests.of(Nonce.random(), false, skip, bytes, segment.nonce(), 0, ROWS);
    request.position(1 + Handshake.STORE_BYTES);
    GatherReply reply = new GatherReply();
    byte status =
        reply.begin(
            request,
            GatherRequest.CHANNEL_PIECE_BYTES,
            nonce -> {
              assertThat(segment.retain()).isTrue();
              return segment;
            });
    assertThat(status).isEqualTo(Status.OK);
    return reply;
  }

  /** The small reply is packed as a whole; the large one is sent from the memory of its segment. */
  @Test
  void continuesWhereTheChannelStopped() throws IOException {
    for (Segment segment : new Segment[] {small, large}) {
      byte[] whole = whole(segment, Status.OK);
      Random random = new Random(1);
      for (int stop = 0; stop < whole.length; stop += 1 + random.nextInt(whole.length / 50)) {
        Narrow channel = new Narrow();
        GatherReply reply = begin(segment);
        channel.room = stop;
        assertThat(reply.write(channel, packed)).isFalse();
        packed.put(0, new byte[packed.capacity()]); // another channel uses it meanwhile
        channel.room = whole.length;
        assertThat(reply.write(channel, packed)).isTrue();
        reply.end();
        assertThat(channel.taken.toByteArray()).as("stop at %d", stop).isEqualTo(whole);
      }
    }
  }

  /**
   * If rows change before all records are taken, the end says so; an end that has begun stays as it
   * was, because its records were copied before.
   */
  @Test
  void tellsChangesUntilTheRecordsAreTaken() throws IOException {
    for (Segment segment : new Segment[] {small, large}) {
      int end = 64 + ROWS * segment.recordBytes(0);
      for (int stop :
          new int[] {
            0, 1, 2, 63, 64, 65, end / 2, end - 1, end, end + 1, end + 5, end + 9, end + 40
          }) {
        byte[] expected = whole(segment, stop <= end ? Status.CHANGING : Status.OK);
        Narrow channel = new Narrow();
        GatherReply reply = begin(segment);
        channel.room = stop;
        assertThat(reply.write(channel, packed)).isFalse();
        segment.beginChange();
        segment.endChange();
        channel.room = expected.length;
        assertThat(reply.write(channel, packed)).isTrue();
        reply.end();
        assertThat(channel.taken.toByteArray()).as("stop at %d", stop).isEqualTo(expected);
      }
    }
  }

  /** A record that is sent in pieces counts once. */
  @Test
  void countsTheRecordsThatBegin() {
    for (int[] piece :
        new int[][] {{0, 600, 6}, {0, 250, 3}, {50, 50, 0}, {50, 51, 1}, {1, 599, 5}}) {
      GatherReply reply = begin(small, piece[0], piece[1]);
      assertThat(reply.recordBytes()).isEqualTo(piece[1]);
      assertThat(reply.recordsBegun())
          .as("%d bytes from %d", piece[1], piece[0])
          .isEqualTo(piece[2]);
      reply.end();
    }
  }
}
