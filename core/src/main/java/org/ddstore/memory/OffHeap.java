// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Off-heap memory that can be freed explicitly, from the API of the running JDK: {@code
 * java.lang.foreign} since Java 22, else {@code sun.misc.Unsafe}, for which later JDKs print
 * warnings. Both are called through method handles, because the project compiles for Java 17.
 */
interface OffHeap {
  OffHeap INSTANCE = Runtime.version().feature() >= 22 ? new ArenaOffHeap() : new UnsafeOffHeap();

  Memory allocate(int bytes, int alignmentBytes);

  /** Returns the address of the first byte of a direct buffer, regardless of its position. */
  long address(ByteBuffer direct);

  /** Maps a part of a file as a shared mapping. */
  Memory map(FileChannel channel, FileChannel.MapMode mode, long position, long bytes)
      throws IOException;

  /**
   * A buffer and the action that frees its memory.
   *
   * @param buffer buffer over all of the memory
   * @param free frees the memory; run at most once; the buffer must not be accessed afterwards
   */
  record Memory(ByteBuffer buffer, Runnable free) {}
}
