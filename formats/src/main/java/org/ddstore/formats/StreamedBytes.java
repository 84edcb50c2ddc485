// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.zip.ZipException;

/**
 * Decompressed bytes by position, which are available only from the first one on. Reads in
 * ascending order go through the stream once and hold none of it; a read before the last one starts
 * again. Not thread-safe.
 */
public final class StreamedBytes implements Closeable {
  private static final int SKIP_BYTES = 1 << 16;

  private final Source source;
  private InputStream stream;
  private long next;
  private byte[] skipped;

  /** The source of a stream. */
  @FunctionalInterface
  public interface Source {
    /**
     * Opens the stream at its first byte.
     *
     * @return the stream, which the caller closes
     * @throws IOException if the file cannot be read
     */
    InputStream open() throws IOException;
  }

  /**
   * Creates a reader.
   *
   * @param source what opens the stream, for the first read and for each that goes back
   */
  public StreamedBytes(Source source) {
    this.source = Objects.requireNonNull(source, "source is null");
  }

  /**
   * Reads from a position until a buffer, which has an array, is full.
   *
   * @param position position of the first byte
   * @param to buffer, whose position is moved to its limit
   * @throws EOFException if the stream ends before
   * @throws IOException if the stream is damaged
   */
  public void read(long position, ByteBuffer to) throws IOException {
    openBefore(position);
    skipTo(position);
    int count = to.remaining();
    int taken = stream.readNBytes(to.array(), to.arrayOffset() + to.position(), count);
    next += taken;
    if (taken < count) {
      throw new EOFException("the decompressed data ends after %,d bytes".formatted(next));
    }
    to.position(to.position() + count);
  }

  /**
   * Reads to the end of the stream, where streams compare their checksums.
   *
   * @param length number of bytes that the stream must have
   * @throws EOFException if it has fewer
   * @throws IOException if it is damaged, or has more
   */
  public void requireEnd(long length) throws IOException {
    openBefore(length);
    skipTo(length);
    if (stream.read() >= 0) {
      throw new ZipException("the decompressed data has more than %,d bytes".formatted(length));
    }
  }

  private void openBefore(long position) throws IOException {
    if (stream == null || position < next) {
      close();
      stream = source.open();
      next = 0;
    }
  }

  private void skipTo(long position) throws IOException {
    if (position > next && skipped == null) {
      skipped = new byte[SKIP_BYTES];
    }
    while (next < position) { // not skip(): some streams do not check what they skip
      int taken = stream.read(skipped, 0, (int) Math.min(SKIP_BYTES, position - next));
      if (taken < 0) {
        throw new EOFException(
            "the decompressed data ends after %,d bytes, needed are %,d".formatted(next, position));
      }
      next += taken;
    }
  }

  @Override
  public void close() throws IOException {
    if (stream != null) {
      InputStream closed = stream;
      stream = null;
      closed.close();
    }
  }
}
