// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** Consecutive bytes of an open file as a stream. Closing it does not close the file. */
public final class ContentStream extends InputStream {
  private static final int BUFFER_BYTES = 1 << 16;

  private final InputFile.Content content;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
  private final long end;
  private long next;

  /**
   * Creates a stream.
   *
   * @param content open file, which the caller closes
   * @param from position of the first byte
   * @param length number of bytes, which the file must have
   */
  public ContentStream(InputFile.Content content, long from, long length) {
    this.content = Objects.requireNonNull(content, "content is null");
    this.next = from;
    this.end = Math.addExact(from, length);
  }

  @Override
  public int read() throws IOException {
    return fill() ? buffer.get() & 0xFF : -1;
  }

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, to.length);
    if (count == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int taken = Math.min(count, buffer.remaining());
    buffer.get(to, offset, taken);
    return taken;
  }

  private boolean fill() throws IOException {
    if (buffer.hasRemaining()) {
      return true;
    }
    if (next == end) {
      return false;
    }
    buffer.clear().limit((int) Math.min(BUFFER_BYTES, end - next));
    try {
      content.read(next, buffer);
    } catch (EOFException e) {
      buffer.limit(0);
      throw e;
    }
    next += buffer.position();
    buffer.flip();
    return true;
  }

  /** Returns the number of all bytes that are left: a gzip stream ends where it is 0. */
  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, buffer.remaining() + end - next);
  }
}
