// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in shared memory, into which arrays are copied one after the other: what any store in
 * shared memory must do with them. Closing deletes it.
 */
final class MemoryFile implements SampleFiles.Sink, Closeable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final int BUFFER_BYTES = 512 << 10;

  private final FileChannel channel;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  private MemoryFile(FileChannel channel) {
    this.channel = channel;
  }

  static MemoryFile create() throws IOException {
    Path file = Files.createTempFile(SHARED_MEMORY, "ddstore-bench-", ".copy");
    return new MemoryFile(
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE));
  }

  /** Copies floats as they are, and the samples of an image as bytes. */
  @Override
  public void take(Object array) throws IOException {
    if (array instanceof float[] floats) {
      for (int at = 0; at < floats.length; ) {
        int count = Math.min(floats.length - at, BUFFER_BYTES / Float.BYTES);
        buffer.clear().asFloatBuffer().put(floats, at, count);
        write(count * Float.BYTES);
        at += count;
      }
      return;
    }
    int[] samples = (int[]) array;
    for (int at = 0; at < samples.length; ) {
      int count = Math.min(samples.length - at, BUFFER_BYTES);
      for (int i = 0; i < count; i++) {
        buffer.put(i, (byte) samples[at + i]);
      }
      write(count);
      at += count;
    }
  }

  private void write(int bytes) throws IOException {
    buffer.position(0).limit(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    buffer.clear();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
