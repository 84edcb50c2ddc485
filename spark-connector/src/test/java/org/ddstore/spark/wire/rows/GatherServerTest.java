// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
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

/** Requests that any peer may make, and requests that are refused. */
class GatherServerTest {
  private static final int FIXED_BYTES = 100;
  private static final int PADDED_BYTES = 64;
  private static final int ROWS = 20_000;

  private final GatherServer server = new GatherServer();
  private final Nonce store = Nonce.random();
  private final long liveBytes = OffHeapBuffer.liveBytes();
  private final List<byte[]> texts = new ArrayList<>();
  private Segment fixed;
  private Segment ragged;

  @BeforeEach
  void export() {
    fixed = fixed();
    ragged = ragged();
    server.export(fixed);
    server.export(ragged);
  }

  private static Segment fixed() {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, FIXED_BYTES));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "fixed", schema)) {
      for (int row = 0; row < ROWS; row++) {
        writer.append(ByteBuffer.wrap(fixedRecord(row)));
      }
      return writer.seal();
    }
  }

  private static byte[] fixedRecord(long row) {
    byte[] record = new byte[FIXED_BYTES];
    new Random(row).nextBytes(record);
    return record;
  }

  private Segment ragged() {
    try (SegmentWriter writer =
        SegmentWriter.create(Backing.DIRECT, null, "ragged", Schema.of(Field.bytes("x")))) {
      for (int row = 0; row < 100; row++) {
        byte[] text = new byte[row * 10];
        new Random(row).nextBytes(text);
        ByteBuffer record =
            ByteBuffer.allocate(Integer.BYTES + text.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(text.length)
                .put(text);
        texts.add(record.array());
        writer.append(record.flip());
      }
      return writer.seal();
    }
  }

  /** Every reference that a request took was given back, and none twice. */
  @AfterEach
  void assertNothingHeld() {
    assertServes();
    server.close();
    assertThat(OffHeapBuffer.liveBytes()).isGreaterThan(liveBytes);
    fixed.release();
    ragged.release();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(liveBytes);
  }

  private void assertServes() {
    assertThat(reply(request(false, 30, 250, fixed, 7, 2, 19_999, 1)))
        .isEqualTo(cut(30, 250, fixedRecord(7), fixedRecord(8), fixedRecord(19_999)));
    ByteBuffer lengths = server.serve(request(true, 0, 1 << 18, ragged, 0, 100));
    assertThat(lengths.get()).isEqualTo(Status.OK);
    for (byte[] text : texts) {
      assertThat(lengths.getInt()).isEqualTo(text.length);
    }
    skipPadding(lengths, 1 + texts.size() * Integer.BYTES);
    for (byte[] text : texts) {
      byte[] got = new byte[text.length];
      lengths.get(got);
      assertThat(got).isEqualTo(text);
    }
    assertThat(lengths.get()).isEqualTo(Status.OK);
    assertThat(lengths.getLong()).isEqualTo(ragged.version());
    skipPadding(lengths, 1 + Long.BYTES);
    assertThat(lengths.hasRemaining()).isFalse();
  }

  private ByteBuffer request(boolean lengths, int skip, int bytes, Segment segment, long... runs) {
    ByteBuffer all = GatherRequests.of(store, lengths, skip, bytes, segment.nonce(), runs);
    return all.position(1 + Handshake.STORE_BYTES);
  }

  /** The bytes of a reply for one segment, without lengths. */
  private byte[] reply(ByteBuffer request) {
    ByteBuffer reply = server.serve(request);
    assertThat(reply.get()).isEqualTo(Status.OK);
    skipPadding(reply, 1);
    byte[] bytes = new byte[reply.remaining() - PADDED_BYTES];
    reply.get(bytes);
    assertThat(reply.get()).isEqualTo(Status.OK);
    return bytes;
  }

  /** Reads the zeros that fill a part of a reply to a multiple of 64 bytes. */
  private static void skipPadding(ByteBuffer reply, int partBytes) {
    for (int i = partBytes; i % PADDED_BYTES != 0; i++) {
      assertThat(reply.get()).isZero();
    }
  }

  private static byte[] cut(int skip, int bytes, byte[]... records) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(records).forEach(all::writeBytes);
    return Arrays.copyOfRange(all.toByteArray(), skip, skip + bytes);
  }

  @Test
  void invalidRunsAreRefused() {
    long[][] runs = {
      {},
      {-1, 1},
      {0, 0},
      {0, -1},
      {ROWS, 1},
      {ROWS - 1, 2},
      {Long.MAX_VALUE, 1},
      {0, Integer.MAX_VALUE},
      {0, GatherRequest.MAX_ROWS + 1},
      {Long.MIN_VALUE, Integer.MIN_VALUE}
    };
    for (long[] wrong : runs) {
      assertThatThrownBy(() -> server.serve(request(false, 0, 100, fixed, wrong)))
          .as("runs %s", Arrays.toString(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (int wrong : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, (256 << 10) + 1}) {
      assertThatThrownBy(() -> server.serve(request(false, 0, wrong, fixed, 0, 1)))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (int wrong : new int[] {FIXED_BYTES + 1, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> server.serve(request(false, wrong, 10, fixed, 5, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cannot skip");
    }
  }

  @Test
  void rejectsTooManyRepeatedRows() {
    long[] runs = new long[2 * 140];
    for (int r = 1; r < runs.length; r += 2) {
      runs[r] = GatherRequest.MAX_ROWS;
    }
    assertThatThrownBy(() -> server.serve(request(false, 0, 100, fixed, runs)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("16,384 rows");
  }

  /** Runs of which one is illegal, or whose rows differ from the stated number. */
  @Test
  void rejectsRunsThatContradictTheirNumberOfRows() {
    for (int[] lengths : new int[][] {{4, -1}, {3, 0}, {1, 1, 7}, {2, 2, 2}}) {
      ByteBuffer request = lengths.length == 2 ? runsOfRows(3, lengths) : runsOfRows(5, lengths);
      assertThatThrownBy(() -> server.serve(request))
          .as(Arrays.toString(lengths))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching(".* outside .*|.* in runs of .*");
    }
    assertThatThrownBy(() -> server.serve(runsOfRows(2, 1, 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("excess bytes");
    ByteBuffer cut = runsOfRows(5, 2, 3);
    assertThatThrownBy(() -> server.serve(cut.limit(cut.limit() - 1)))
        .isInstanceOf(BufferUnderflowException.class);
  }

  /** A request for runs from row 0 on that states a number of rows, and always the lengths. */
  private ByteBuffer runsOfRows(int rows, int... lengths) {
    ByteBuffer out = ByteBuffer.allocate(200).put((byte) 0).putInt(0).putInt(100).putInt(1);
    Handshake.putStore(out, fixed.nonce());
    out.putInt(lengths.length).putInt(rows);
    out.position(out.position() + lengths.length * Long.BYTES);
    IntStream.of(lengths).forEach(out::putInt);
    return out.flip();
  }

  /** The reply of a connection is held as a whole. */
  @Test
  void limitsTheBytesOfAReply() {
    int most = GatherRequest.CONNECTION_PIECE_BYTES;
    for (boolean lengths : new boolean[] {false, true}) {
      assertThatThrownBy(() -> server.serve(request(lengths, 0, most + 1, fixed, 0, 3000)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("262,145 bytes");
      assertThat(server.serve(request(lengths, 0, most, fixed, 0, 3000)).remaining())
          .isEqualTo((lengths ? 188 : 1) * PADDED_BYTES + most + PADDED_BYTES); // 3000 lengths
    }
  }

  @Test
  void releasesTheSegmentsOfARejectedRequest() {
    int segments = 100_000;
    ByteBuffer many =
        ByteBuffer.allocate(13 + segments * (GatherRequest.SEGMENT_BYTES + Long.BYTES));
    many.put((byte) 0).putInt(0).putInt(100).putInt(segments);
    for (int s = 0; s < segments; s++) {
      Handshake.putStore(many, fixed.nonce());
      many.putInt(1).putInt(1).putLong(0);
    }
    assertThatThrownBy(() -> server.serve(many.flip()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rows");
  }

  @Test
  void withdrawnSegmentsAreGone() {
    ByteBuffer request = request(false, 0, 100, fixed, 0, 1);
    server.withdraw(fixed);
    assertThat(server.serve(request)).isEqualTo(ByteBuffer.wrap(new byte[] {Status.GONE}));
    server.withdraw(fixed);
    server.export(fixed);
  }
}
