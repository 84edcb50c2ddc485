// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import java.util.function.Function;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.PackedGather;
import org.ddstore.spark.wire.connection.Status;

/**
 * The reply to a {@link GatherRequest}, produced piece by piece from the rows in memory:
 *
 * <pre>
 * byte {@link Status#OK} | int32 bytes per row, if lengths are wanted | padding | the records
 * byte {@link Status#OK} or {@link Status#CHANGING} | int64 version per segment | padding
 * </pre>
 *
 * <p>Zeros fill what precedes the records, and what follows them, to a multiple of {@link
 * #ALIGNMENT} bytes.
 *
 * <p>The versions are checked after all records have been copied, hence at the end. Records are
 * packed before they are sent. If a reply does not fit into one window, its records of at least
 * {@link #OWN_BUFFER_BYTES} are sent from the memory of their segment instead. The part that the
 * receiver does not take at once is produced again later, so that a slow receiver holds no memory.
 * Reused for many requests. Used by one thread.
 */
final class GatherReply {
  /** Smallest part of a record that is sent without packing if the reply takes several writes. */
  static final int OWN_BUFFER_BYTES = 16 << 10;

  /**
   * The parts before and after the records have a multiple of this number of bytes. Some processors
   * of AMD copy slowly to an address that is a few bytes, at most 62, after that of the source,
   * modulo the page size of 4 KiB (glibc bug 30994). Linux often begins to copy a reply to the
   * start of a page, and large records often begin at the start of one, too. Measured (AMD EPYC,
   * Linux 6.18, four senders on two cores, random rows of 64 KiB): 12 to 17 us per row after 0 or
   * 63 to 4,095 bytes, 27 to 33 us after 1 or 8 bytes.
   */
  private static final int ALIGNMENT = 64;

  /** Number of buffers that one write of the JDK takes. */
  private static final int MAX_BUFFERS = 16;

  private final RequestedRows requested = new RequestedRows();
  private final PackedGather gather = new PackedGather(GatherKernels.current());
  private ByteBuffer head = ByteBuffer.allocate(1);
  private ByteBuffer tail = ByteBuffer.allocate(0); // empty until all records are copied
  private boolean statusOnly;
  private long leftBytes; // of the records
  private boolean isWhole; // whether the reply has all records to their end
  private boolean packsAll;
  private int run;
  private int row; // within the run
  private int rowSkip;
  private int windowRun;
  private int windowRow;
  private int windowSkip;
  private final ByteBuffer[] window = new ByteBuffer[MAX_BUFFERS];
  private int buffers;

  /**
   * Begins the reply to a request. {@link #end()} must follow, also after an exception.
   *
   * @param request request, positioned after the store
   * @param maxBytes maximum bytes that a request may want
   * @param find function that returns a segment with a new reference, or null
   * @return {@link Status#OK}, or {@link Status#GONE} if a segment is missing
   * @throws IllegalArgumentException if the request is out of range
   * @throws java.nio.BufferUnderflowException if the request is truncated
   */
  byte begin(ByteBuffer request, int maxBytes, Function<Nonce, Segment> find) {
    boolean lengths = request.get() != 0;
    int skip = request.getInt();
    int bytes = request.getInt();
    if (skip < 0 || bytes < 0 || bytes > maxBytes) {
      throw new IllegalArgumentException(
          "a request for %,d bytes after %,d".formatted(bytes, skip));
    }
    if (!requested.decode(request, find)) {
      return Status.GONE;
    }
    int firstBytes = requested.recordBytes(0, 0);
    if (skip > firstBytes) {
      throw new IllegalArgumentException(
          "cannot skip %,d bytes of a record of %,d bytes".formatted(skip, firstBytes));
    }
    long size = makeHead(lengths) - skip;
    if (!lengths && size < bytes) {
      throw new IllegalArgumentException("a request for %,d bytes of %,d".formatted(bytes, size));
    }
    leftBytes = Math.min(size, bytes);
    isWhole = size <= bytes;
    packsAll = head.remaining() + leftBytes + tailBytes() <= DataLoop.PACKED_BYTES;
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

  /** Returns the bytes of the records in the reply. Call after {@link #begin}. */
  long recordBytes() {
    return leftBytes;
  }

  /** Returns the number of records whose first byte is in the reply. Call after {@link #begin}. */
  int recordsBegun() {
    int continued = rowSkip > 0 ? 1 : 0;
    if (isWhole) {
      return requested.rows() - continued;
    }
    int begun = 0;
    long left = rowSkip + leftBytes;
    for (int r = 0; r < requested.runs(); r++) {
      for (int i = 0; i < requested.rows(r) && left > 0; i++) {
        left -= requested.recordBytes(r, i);
        begun++;
      }
    }
    return begun - continued;
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
    int headBytes = headBytes(lengths ? requested.rows() : 0);
    if (head.capacity() < headBytes) {
      head = ByteBuffer.allocate(headBytes);
    }
    head.clear().limit(headBytes).put(Status.OK);
    long size = 0;
    for (int r = 0; r < requested.runs(); r++) {
      Segment segment = requested.segment(r);
      if (!lengths && segment.schema().isFixed()) {
        size += (long) requested.rows(r) * segment.recordBytes(0);
        continue;
      }
      for (int i = 0; i < requested.rows(r); i++) {
        int bytes = requested.recordBytes(r, i);
        size += bytes;
        if (lengths) {
          head.putInt(bytes);
        }
      }
    }
    pad(head);
    return size;
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
      long written;
      try {
        written = channel.write(window, 0, buffers);
      } finally {
        Arrays.fill(window, 0, buffers, null);
      }
      advance(written, written == bytes);
      if (written < bytes) {
        return false;
      }
      if (statusOnly || (tail.limit() > 0 && !tail.hasRemaining())) {
        return true;
      }
    }
  }

  ByteBuffer whole() {
    ByteBuffer reply = ByteBuffer.allocate(head.remaining() + (int) leftBytes + tailBytes());
    reply.put(head);
    gather.begin(reply);
    while (leftBytes > 0) {
      Segment segment = requested.segment(run);
      int part = partBytes(segment);
      gather.add(segment, requested.row(run, row), rowSkip, part);
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
    long remaining = leftBytes;
    boolean copied = true;
    gather.begin(packed);
    while (remaining > 0 && buffers < MAX_BUFFERS - 2) {
      remaining -= packSmallRows(remaining);
      if (remaining == 0) {
        break;
      }
      Segment segment = requested.segment(run);
      int part = (int) Math.min(partBytes(segment), remaining);
      if (part >= OWN_BUFFER_BYTES && !packsAll) {
        gather.flush();
        begun = addPacked(packed, begun);
        addRecord(segment, part);
        copied = false;
      } else if (gather.room() == 0) {
        break;
      } else {
        part = Math.min(part, gather.room());
        gather.add(segment, requested.row(run, row), rowSkip, part);
      }
      remaining -= part;
      step(part);
    }
    gather.flush();
    // Records that are not packed are copied by the write: the versions are checked after it.
    if (remaining == 0 && copied && !statusOnly && packed.hasRemaining()) {
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
    while (rowSkip == 0 && run < requested.runs()) {
      Segment segment = requested.segment(run);
      int size = segment.recordBytes(requested.row(run, row));
      if (!segment.schema().isFixed()
          || size >= OWN_BUFFER_BYTES
          || size > Math.min(gather.room(), most - packed)) {
        break;
      }
      gather.add(segment, requested.row(run, row), 0, size);
      packed += size;
      nextRow();
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
    long place = segment.place(requested.row(run, row));
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
    return (int) Math.min(segment.recordBytes(requested.row(run, row)) - rowSkip, leftBytes);
  }

  /** Moves the cursor by a part of the current record. */
  private void step(int part) {
    rowSkip += part;
    if (rowSkip == requested.recordBytes(run, row)) {
      rowSkip = 0;
      nextRow();
    }
  }

  private void nextRow() {
    if (++row == requested.rows(run)) {
      row = 0;
      run++;
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
      for (long remaining = records; remaining > 0; ) {
        int size = requested.recordBytes(run, row) - rowSkip;
        int part = (int) Math.min(size, remaining);
        remaining -= part;
        step(part);
      }
    }
  }

  private int tailBytes() {
    return tailBytes(requested.segments());
  }

  private void makeTail() {
    tail.clear().limit(tailBytes());
    requested.putTail(tail);
    pad(tail);
  }

  /** Fills a buffer with zeros to its limit, and flips it. */
  private static void pad(ByteBuffer part) {
    while (part.hasRemaining()) {
      part.put((byte) 0);
    }
    part.flip();
  }

  /** Returns the size of what precedes the records, in bytes, with a number of lengths. */
  static int headBytes(int lengths) {
    return aligned(1 + lengths * Integer.BYTES);
  }

  /** Returns the size of what follows the records of a number of segments, in bytes. */
  static int tailBytes(int segments) {
    return aligned(1 + segments * Long.BYTES);
  }

  private static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  void end() {
    requested.release();
  }
}
