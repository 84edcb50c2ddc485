// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/** A stream of a checkpoint, which is cut into chunks. Used by one thread. */
final class StreamOutput extends OutputStream {
  private final RankWrites writes;
  private final String name;
  private byte[] chunk;
  private int used;
  private boolean closed;

  StreamOutput(RankWrites writes, String name) {
    this.writes = writes;
    this.name = name;
  }

  @Override
  public void write(int oneByte) throws IOException {
    prepare();
    chunk[used++] = (byte) oneByte;
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    Objects.checkFromIndexSize(from, count, bytes.length);
    for (int done = 0; done < count; ) {
      prepare();
      int step = Math.min(count - done, chunk.length - used);
      System.arraycopy(bytes, from + done, chunk, used, step);
      used += step;
      done += step;
    }
  }

  private void prepare() throws IOException {
    if (closed) {
      throw new IOException("closed: stream \"%s\"".formatted(name));
    }
    if (chunk != null && used == chunk.length) {
      send();
    }
    if (chunk == null) {
      chunk = writes.takeArray();
    }
  }

  private void send() throws IOException {
    byte[] full = chunk;
    chunk = null;
    int count = used;
    used = 0;
    writes.write(name, full, count);
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      if (chunk != null) {
        send();
      }
    }
  }

  /** Gives the memory back without writing the rest. */
  void discard() {
    closed = true;
    if (chunk != null) {
      writes.giveArray(chunk);
      chunk = null;
    }
  }

  boolean isClosed() {
    return closed;
  }
}
