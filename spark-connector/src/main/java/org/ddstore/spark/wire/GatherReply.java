// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import java.util.function.Function;
import org.ddstore.layout.RowSpan;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.PackedGather;

/**
 * The reply to a {@link GatherRequest}, produced piece by piece from the rows in memory:
 *
 * <pre>
 * byte {@link Status#OK} | int32 bytes per row, if lengths are wanted | the records
 * byte {@link Status#OK} or {@link Status#CHANGING} | int64 version per segment
 * </pre>
 *
 * <p>The versions are checked after all records have been copied, hence at the end. Rows of at
 * least {@link #OWN_BUFFER_BYTES} are sent from the memory of their segment; others are first
 * packed. What the receiver does not take at once is produced again later, so that a slow receiver
 * holds no memory. Reused for many requests. Used by one thread.
 */
final class GatherReply {
  /** Smallest part of a record that is sent without packing. */
  static final int OWN_BUFFER_BYTES = 16 << 10;

  /** Number of buffers that one write of the JDK takes. */
  private static final int MOST_BUFFERS = 16;

  private static final int FIRST_RUNS = 64;

  private Segment[] held = new Segment[1];
  private long[] versions = new long[1];
  private int segments;
  private int[] runSegment = new int[FIRST_RUNS];
  private long[] runRow = new long[FIRST_RUNS];
  private int[] runRows = new int[FIRST_RUNS];
  private int runs;
  private int rows;

  private final PackedGather gather = new PackedGather(GatherKernels.current());
  private ByteBuffer head = ByteBuffer.allocate(1);
  private ByteBuffer tail = ByteBuffer.allocate(0); // empty until all records are copied
  private boolean statusOnly;
  private long leftBytes; // of the records
  private int run;
  private int row; // within the run
  private int rowSkip;
  private int windowRun;
  private int windowRow;
  private int windowSkip;
  private final ByteBuffer[] window = new ByteBuffer[MOST_BUFFERS];
  private int buffers;

  /**
   * Begins the reply to a request. {@link #end()} must follow, also after an exception.
   *
   * @param request request, positioned after the store
   * @param mostBytes maximum bytes that a request may want
   * @param find function that returns a segment with a new reference, or null
   * @return {@link Status#OK}, or {@link Status#GONE} if a segment is missing
   * @throws IllegalArgumentException if the request is out of range
   * @throws java.nio.BufferUnderflowException if the request is truncated
   */
  byte begin(ByteBuffer request, int mostBytes, Function<Nonce, Segment> find) {
    runs = 0;
    rows = 0;
    boolean lengths = request.get() != 0;
    int skip = request.getInt();
    int bytes = request.getInt();
    int count = request.getInt();
    if (skip < 0 || bytes < 0 || bytes > mostBytes) {
      throw new IllegalArgumentException(
          "a request for %,d bytes after %,d".formatted(bytes, skip));
    }
    int most = request.remaining() / (GatherRequest.SEGMENT_BYTES + Long.BYTES);
    if (count < 1 || count > most) {
      throw new IllegalArgumentException("a request for %,d segments".formatted(count));
    }
    if (held.length < count) {
      held = new Segment[count];
      versions = new long[count];
    }
    while (segments < count) {
      Segment segment = find.apply(Handshake.getStore(request));
      if (segment == null) {
        return Status.GONE;
      }
      versions[segments] = segment.version();
      held[segments++] = segment;
      addRuns(request, segment);
    }
    if (request.hasRemaining()) {
      throw new IllegalArgumentException("request with " + request.remaining() + " excess bytes");
    }
    if (skip > held[0].recordBytes(runRow[0])) {
      throw new IllegalArgumentException(
          "cannot skip %,d bytes of a record of %,d bytes"
              .formatted(skip, held[0].recordBytes(runRow[0])));
    }
    long size = makeHead(lengths) - skip;
    if (!lengths && size < bytes) {
      throw new IllegalArgumentException("a request for %,d bytes of %,d".formatted(bytes, size));
    }
    leftBytes = Math.min(size, bytes);
    if (tail.capacity() < tailBytes()) {
      tail = ByteBuffer.allocate(tailBytes());
    }
    tail.limit(0);
    statusOnly = false;
    run = 0;
    row = 0;
    rowSkip = skip;
    return Status.OK;
  }

  /**
   * Begins a reply without rows, instead of {@link #begin} or after it.
   *
   * @param status status and what follows it
   */
  void beginStatus(ByteBuffer status) {
    end();
    head = status;
    leftBytes = 0;
    tail.limit(0);
    statusOnly = true;
  }

  /** Prepares status and lengths; returns the size of all records in bytes. */
  private long makeHead(boolean lengths) {
    int headBytes = 1 + (lengths ? rows * Integer.BYTES : 0);
    if (head.capacity() < headBytes) {
      head = ByteBuffer.allocate(headBytes);
    }
    head.clear().put(Status.OK);
    long size = 0;
    for (int r = 0; r < runs; r++) {
      Segment segment = held[runSegment[r]];
      if (!lengths && segment.schema().isFixed()) {
        size += (long) runRows[r] * segment.recordBytes(0);
        continue;
      }
      for (int i = 0; i < runRows[r]; i++) {
        int bytes = segment.recordBytes(runRow[r] + i);
        size += bytes;
        if (lengths) {
          head.putInt(bytes);
        }
      }
    }
    head.flip();
    return size;
  }

  private void addRuns(ByteBuffer request, Segment segment) {
    int count = request.getInt();
    int rowsOfRuns = request.getInt();
    if (count < 1 || count > rowsOfRuns) {
      throw new IllegalArgumentException(
          "a request for %,d rows in %,d runs".formatted(rowsOfRuns, count));
    }
    if (rowsOfRuns > GatherRequest.MAX_ROWS - rows) {
      throw new IllegalArgumentException(
          "a request for more than %,d rows".formatted(GatherRequest.MAX_ROWS));
    }
    reserveRuns(runs + count);
    request.asLongBuffer().get(runRow, runs, count);
    request.position(request.position() + count * Long.BYTES);
    if (count == rowsOfRuns) {
      Arrays.fill(runRows, runs, runs + count, 1);
    } else {
      request.asIntBuffer().get(runRows, runs, count);
      request.position(request.position() + count * Integer.BYTES);
    }
    Arrays.fill(runSegment, runs, runs + count, segments - 1);
    long sum = 0;
    for (int r = runs; r < runs + count; r++) {
      if (runRow[r] < 0 || runRows[r] < 1 || runRow[r] > segment.rows() - runRows[r]) {
        throw new IllegalArgumentException(
            "a request for rows %s outside [0, %d)"
                .formatted(RowSpan.format(runRow[r], runRows[r]), segment.rows()));
      }
      sum += runRows[r];
    }
    if (sum != rowsOfRuns) {
      throw new IllegalArgumentException(
          "a request for %,d rows whose runs have %,d".formatted(rowsOfRuns, sum));
    }
    runs += count;
    rows += rowsOfRuns;
  }

  private void reserveRuns(int count) {
    if (count > runRow.length) {
      int room = Math.max(count, 2 * runRow.length);
      runSegment = Arrays.copyOf(runSegment, room);
      runRow = Arrays.copyOf(runRow, room);
      runRows = Arrays.copyOf(runRows, room);
    }
  }

  /**
   * Writes as much of the reply as the channel takes.
   *
   * @param packed direct buffer for the records that are packed; its content is replaced
   * @return whether the reply is complete
   */
  boolean write(GatheringByteChannel channel, ByteBuffer packed) throws IOException {
    while (true) {
      long bytes = fillWindow(packed);
      long written = channel.write(window, 0, buffers);
      Arrays.fill(window, 0, buffers, null);
      advance(written, written == bytes);
      if (written < bytes) {
        return false;
      }
      if (statusOnly || (tail.limit() > 0 && !tail.hasRemaining())) {
        return true;
      }
    }
  }

  /** Returns the whole reply, on the heap. */
  ByteBuffer whole() {
    ByteBuffer reply = ByteBuffer.allocate(head.remaining() + (int) leftBytes + tailBytes());
    reply.put(head);
    gather.begin(reply);
    while (leftBytes > 0) {
      Segment segment = held[runSegment[run]];
      int part = partBytes(segment);
      gather.add(segment, runRow[run] + row, rowSkip, part);
      leftBytes -= part;
      step(part);
    }
    gather.flush();
    makeTail();
    return reply.put(tail).flip();
  }

  /** Fills the window with the next part of the reply; returns its size in bytes. */
  private long fillWindow(ByteBuffer packed) {
    packed.clear();
    buffers = 0;
    windowRun = run;
    windowRow = row;
    windowSkip = rowSkip;
    packed.put(head.duplicate());
    int begun = 0;
    long left = leftBytes;
    boolean copied = true;
    gather.begin(packed);
    while (left > 0 && buffers < MOST_BUFFERS - 2) {
      left -= packSmallRows(left);
      if (left == 0) {
        break;
      }
      Segment segment = held[runSegment[run]];
      int part = (int) Math.min(partBytes(segment), left);
      if (part >= OWN_BUFFER_BYTES) {
        gather.flush();
        begun = addPacked(packed, begun);
        addRecord(segment, part);
        copied = false;
      } else if (gather.room() == 0) {
        break;
      } else {
        part = Math.min(part, gather.room());
        gather.add(segment, runRow[run] + row, rowSkip, part);
      }
      left -= part;
      step(part);
    }
    gather.flush();
    // Records that are not packed are copied by the write: the versions are checked after it.
    if (left == 0 && copied && !statusOnly && packed.hasRemaining()) {
      if (tail.position() == 0) {
        makeTail();
      }
      ByteBuffer rest = tail.duplicate();
      packed.put(rest.limit(rest.position() + Math.min(rest.remaining(), packed.remaining())));
    }
    addPacked(packed, begun);
    return windowBytes();
  }

  /**
   * Packs whole records of equal size, run by run, as far as they fit; returns their size in bytes.
   */
  private long packSmallRows(long most) {
    long packed = 0;
    while (rowSkip == 0 && run < runs) {
      Segment segment = held[runSegment[run]];
      int size = segment.recordBytes(runRow[run] + row);
      if (!segment.schema().isFixed()
          || size >= OWN_BUFFER_BYTES
          || size > Math.min(gather.room(), most - packed)) {
        break;
      }
      gather.add(segment, runRow[run] + row, 0, size);
      packed += size;
      if (++row == runRows[run]) {
        row = 0;
        run++;
      }
    }
    return packed;
  }

  private int addPacked(ByteBuffer packed, int begun) {
    int end = packed.position();
    if (end > begun) {
      window[buffers++] = packed.slice(begun, end - begun);
    }
    return end;
  }

  private void addRecord(Segment segment, int part) {
    long place = segment.place(runRow[run] + row);
    ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
    window[buffers++] = chunk.slice(Segment.positionOf(place) + rowSkip, part);
  }

  private long windowBytes() {
    long bytes = 0;
    for (int b = 0; b < buffers; b++) {
      bytes += window[b].remaining();
    }
    return bytes;
  }

  /** Returns the bytes of the current record that are left, at most those of the reply. */
  private int partBytes(Segment segment) {
    return (int) Math.min(segment.recordBytes(runRow[run] + row) - rowSkip, leftBytes);
  }

  /** Moves the cursor by a part of the current record. */
  private void step(int part) {
    rowSkip += part;
    if (rowSkip == held[runSegment[run]].recordBytes(runRow[run] + row)) {
      rowSkip = 0;
      row++;
      if (row == runRows[run]) {
        row = 0;
        run++;
      }
    }
  }

  /** Moves the cursor from the begin of the window to what the channel has not taken. */
  private void advance(long written, boolean isWhole) {
    int taken = (int) Math.min(written, head.remaining());
    head.position(head.position() + taken);
    long records = Math.min(written - taken, leftBytes);
    leftBytes -= records;
    tail.position(tail.position() + (int) (written - taken - records));
    if (tail.position() == 0) {
      tail.limit(0); // made again, because rows can change meanwhile
    }
    if (!isWhole) {
      run = windowRun;
      row = windowRow;
      rowSkip = windowSkip;
      for (long left = records; left > 0; ) {
        int size = held[runSegment[run]].recordBytes(runRow[run] + row) - rowSkip;
        int part = (int) Math.min(size, left);
        left -= part;
        step(part);
      }
    }
  }

  private int tailBytes() {
    return 1 + segments * Long.BYTES;
  }

  private void makeTail() {
    tail.clear().put(Status.OK);
    boolean valid = true;
    for (int s = 0; s < segments; s++) {
      valid &= held[s].validate(versions[s]);
      tail.putLong(versions[s]);
    }
    tail.put(0, valid ? Status.OK : Status.CHANGING).flip();
  }

  /** Releases the segments of the request. Idempotent. */
  void end() {
    for (int s = 0; s < segments; s++) {
      held[s].release();
      held[s] = null;
    }
    segments = 0;
  }
}
