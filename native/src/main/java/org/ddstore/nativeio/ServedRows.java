// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.RawAddress;
import org.ddstore.memory.Segment;

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

  /** Adds a segment until {@link #remove}, unless Java has to serve it. */
  public void add(Segment segment) {
    int recordBytes = segment.schema().isFixed() ? segment.schema().fixedBytes() : 0;
    ByteBuffer version = segment.map().version();
    if (recordBytes == 0 || !version.isDirect()) {
      return;
    }
    long[] chunks = new long[segment.chunks()];
    for (int c = 0; c < chunks.length; c++) {
      chunks[c] = segment.chunkAddress(c);
    }
    Nonce nonce = segment.nonce();
    add(
        handle,
        nonce.high(),
        nonce.low(),
        RawAddress.of(version),
        segment.rows(),
        segment.rowShift(),
        recordBytes,
        chunks);
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
      int rowShift,
      int recordBytes,
      long[] chunks);

  private static native void remove(long rows, long high, long low);

  private static native long counted(long rows);
}
