package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Memory outside the heap that can be freed at will, as the running JDK offers it: {@code
 * java.lang.foreign} from Java 22 on; before, {@code sun.misc.Unsafe}, of which later JDKs warn.
 * Both are reached by method handles, because the project compiles for Java 17.
 */
interface OffHeap {
  OffHeap INSTANCE = Runtime.version().feature() >= 22 ? new ArenaOffHeap() : new UnsafeOffHeap();

  /** Zeroed memory. */
  Memory allocate(int bytes, int alignmentBytes);

  /** Where the first byte of a direct buffer is, whatever its position. */
  long address(ByteBuffer direct);

  /** A shared mapping of a part of a file. */
  Memory map(FileChannel channel, FileChannel.MapMode mode, long position, long bytes)
      throws IOException;

  /**
   * A buffer and what frees its memory; run at most once.
   *
   * @param buffer over all of the memory
   * @param free gives the memory back; the buffer must not be touched afterwards
   */
  record Memory(ByteBuffer buffer, Runnable free) {}
}
