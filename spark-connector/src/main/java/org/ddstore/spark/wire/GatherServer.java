// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.layout.RowSpan;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.PackedGather;

/**
 * A server of gather requests for the segments that this process exports. Runs on network threads:
 * each request copies at most one piece and never blocks.
 */
final class GatherServer {
  private final Map<Nonce, Segment> exported = new ConcurrentHashMap<>();
  private final AtomicLong served = new AtomicLong();

  /** Exports a segment and retains a reference to it. */
  void export(Segment segment) {
    if (!segment.retain()) {
      throw new IllegalStateException("closed: " + segment);
    }
    exported.put(segment.nonce(), segment);
  }

  void withdraw(Segment segment) {
    if (exported.remove(segment.nonce()) != null) {
      segment.release();
    }
  }

  /** Returns the number of requests received, including refused ones. */
  long served() {
    return served.get();
  }

  void close() {
    exported.values().forEach(this::withdraw);
  }

  /**
   * Serves a request.
   *
   * @param request request, positioned after the store
   * @throws IllegalArgumentException if the request is out of range
   * @throws java.nio.BufferUnderflowException if the request is truncated
   */
  ByteBuffer serve(ByteBuffer request) {
    served.incrementAndGet();
    boolean lengths = request.get() != 0;
    int skip = request.getInt();
    int bytes = request.getInt();
    int segments = request.getInt();
    if (skip < 0 || bytes < 0 || bytes > GatherRequest.MAX_PIECE_BYTES) {
      throw new IllegalArgumentException(
          "a request for %,d bytes after %,d".formatted(bytes, skip));
    }
    int most = request.remaining() / (GatherRequest.SEGMENT_BYTES + GatherRequest.RUN_BYTES);
    if (segments < 1 || segments > most) {
      throw new IllegalArgumentException("a request for %,d segments".formatted(segments));
    }
    Segment[] held = new Segment[segments];
    try {
      return gather(request, held, lengths, skip, bytes);
    } finally {
      for (Segment segment : held) {
        if (segment != null) {
          segment.release();
        }
      }
    }
  }

  /**
   * @param held receives the segments, each with a reference that the caller releases
   */
  private ByteBuffer gather(
      ByteBuffer request, Segment[] held, boolean lengths, int skip, int bytes) {
    int runsAt = request.position();
    int rows = 0;
    for (int s = 0; s < held.length; s++) {
      Segment segment = exported.get(Handshake.getStore(request));
      if (segment == null || !segment.retain()) {
        return ByteBuffer.wrap(new byte[] {Status.GONE});
      }
      held[s] = segment;
      rows = checkRuns(request, segment, rows);
    }
    if (request.hasRemaining()) {
      throw new IllegalArgumentException("request with " + request.remaining() + " excess bytes");
    }
    request.position(runsAt);
    int[] sizes = lengths ? recordSizes(request, held, rows) : new int[0];
    long most = lengths ? Arrays.stream(sizes).asLongStream().sum() - skip : bytes;
    int header = 1 + held.length * Long.BYTES;
    ByteBuffer reply =
        ByteBuffer.allocate(
            header + sizes.length * Integer.BYTES + (int) Math.max(0, Math.min(most, bytes)));
    reply.put(Status.OK).position(header);
    for (int size : sizes) {
      reply.putInt(size);
    }
    request.position(runsAt);
    return putRecords(request, held, skip, reply)
        ? reply.flip()
        : ByteBuffer.wrap(new byte[] {Status.CHANGING});
  }

  /**
   * @param before number of rows of the preceding segments
   * @return number of rows including those of this segment
   */
  private static int checkRuns(ByteBuffer request, Segment segment, int before) {
    int runs = request.getInt();
    if (runs < 1) {
      throw new IllegalArgumentException("a request for %,d runs of rows".formatted(runs));
    }
    int rows = before;
    for (int run = 0; run < runs; run++) {
      long first = request.getLong();
      int count = request.getInt();
      if (first < 0 || count < 1 || first > segment.rows() - count) {
        throw new IllegalArgumentException(
            "a request for rows %s outside [0, %d)"
                .formatted(RowSpan.format(first, count), segment.rows()));
      }
      if (count > GatherRequest.MAX_ROWS - rows) {
        throw new IllegalArgumentException(
            "a request for more than %,d rows".formatted(GatherRequest.MAX_ROWS));
      }
      rows += count;
    }
    return rows;
  }

  private static int[] recordSizes(ByteBuffer request, Segment[] held, int rows) {
    int[] sizes = new int[rows];
    int next = 0;
    for (Segment segment : held) {
      Handshake.getStore(request);
      for (int runs = request.getInt(); runs > 0; runs--) {
        long first = request.getLong();
        int count = request.getInt();
        for (long row = first; row < first + count; row++) {
          sizes[next++] = segment.recordBytes(row);
        }
      }
    }
    return sizes;
  }

  /** Copies the records; returns false if rows were changed meanwhile. */
  private static boolean putRecords(
      ByteBuffer request, Segment[] held, int skipBytes, ByteBuffer reply) {
    int skip = skipBytes;
    PackedGather gather = new PackedGather(GatherKernels.current(), reply);
    for (int s = 0; s < held.length; s++) {
      Segment segment = held[s];
      long version = segment.version();
      reply.putLong(1 + s * Long.BYTES, version);
      Handshake.getStore(request);
      for (int runs = request.getInt(); runs > 0; runs--) {
        long first = request.getLong();
        int count = request.getInt();
        gather.add(segment, first, count, skip);
        skip = 0;
      }
      gather.flush();
      if (!segment.validate(version)) {
        return false;
      }
    }
    return true;
  }
}
