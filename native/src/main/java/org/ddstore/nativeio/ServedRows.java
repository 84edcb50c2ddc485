// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.nio.ByteBuffer;
import java.util.List;
import org.ddstore.memory.RawAddress;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentMap;

/** The segments that {@link RowServer}s serve, known to C. Thread-safe until the close. */
public final class ServedRows implements AutoCloseable {
  private final long handle;

  private ServedRows(long handle) {
    this.handle = handle;
  }

  /** Returns an empty set, closed by the caller; null if the library cannot be used. */
  public static ServedRows open() {
    long handle = NativeLibrary.isLoaded() ? openRows() : -1;
    return handle < 0 ? null : new ServedRows(handle);
  }

  /**
   * Adds a segment until {@link #remove}.
   *
   * @throws OutOfMemoryError if C has no memory for its description
   */
  public void add(Segment segment) {
    SegmentMap map = segment.map();
    int result =
        add(
            handle,
            segment.nonce().high(),
            segment.nonce().low(),
            RawAddress.of(map.version()),
            segment.rows(),
            segment.schema().isFixed() ? segment.schema().fixedBytes() : 0,
            segment.rowShift(),
            addresses(map.chunks()),
            map.chunkStarts().stream().mapToLong(Long::longValue).toArray(),
            addresses(map.offsets()),
            map.offsetShift());
    if (result != 0) {
      throw new OutOfMemoryError("cannot serve %s in C: error %d".formatted(segment, -result));
    }
  }

  private static long[] addresses(List<ByteBuffer> parts) {
    return parts.stream().mapToLong(RawAddress::of).toArray();
  }

  /** Removes a segment, and waits while one of its rows is copied. No effect without it. */
  public void remove(Segment segment) {
    remove(handle, segment.nonce().high(), segment.nonce().low());
  }

  /** Returns the number of requests that were answered. */
  public long requests() {
    return counted(handle);
  }

  long handle() {
    return handle;
  }

  /** Frees the set once no channel refers to it. Call once. */
  @Override
  public void close() {
    release(handle);
  }

  /** Returns a handle, or -errno. */
  private static native long openRows();

  private static native void release(long rows);

  /** Returns 0 or -errno. */
  private static native int add(
      long rows,
      long high,
      long low,
      long version,
      long rowCount,
      int recordBytes,
      int rowShift,
      long[] chunks,
      long[] chunkStarts,
      long[] entries,
      int entryShift);

  private static native void remove(long rows, long high, long low);

  private static native long counted(long rows);
}
