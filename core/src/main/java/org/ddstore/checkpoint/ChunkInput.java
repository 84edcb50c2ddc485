// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** A stream of bytes that come chunk by chunk. Used by one thread. */
final class ChunkInput extends InputStream {
  private final Source source;
  private byte[] chunk = {};
  private int used;

  @FunctionalInterface
  interface Source {
    /** Returns the next chunk; null at the end. */
    byte[] next() throws IOException;
  }

  ChunkInput(Source source) {
    this.source = source;
  }

  /** Makes a byte available; returns false at the end. */
  private boolean prepare() throws IOException {
    while (chunk != null && used == chunk.length) {
      chunk = source.next();
      used = 0;
    }
    return chunk != null;
  }

  @Override
  public int read() throws IOException {
    return prepare() ? chunk[used++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] bytes, int from, int count) throws IOException {
    Objects.checkFromIndexSize(from, count, bytes.length);
    if (count == 0) {
      return 0;
    }
    if (!prepare()) {
      return -1;
    }
    int step = Math.min(count, chunk.length - used);
    System.arraycopy(chunk, used, bytes, from, step);
    used += step;
    return step;
  }

  @Override
  public int available() {
    return chunk == null ? 0 : chunk.length - used;
  }
}
