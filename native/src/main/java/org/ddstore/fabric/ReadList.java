// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.memory.OffHeapBuffer;

/** A list of reads to execute together, in the form of {@code struct dds_read}. Reused. */
final class ReadList implements AutoCloseable {
  private static final int READ_BYTES = 32;
  private static final int FIRST_READS = 256;

  private OffHeapBuffer memory = OffHeapBuffer.allocate(FIRST_READS * READ_BYTES);
  private ByteBuffer out = order(memory);
  private int count;

  private static ByteBuffer order(OffHeapBuffer memory) {
    return memory.buffer().duplicate().order(ByteOrder.nativeOrder());
  }

  void clear() {
    count = 0;
  }

  int count() {
    return count;
  }

  long memoryBytes() {
    return out.capacity();
  }

  long address() {
    return FabricNative.addressOf(memory.buffer());
  }

  /**
   * @param remote address as in the owner's registration
   * @param landing address that the bytes are written to
   */
  void add(long remote, long landing, int bytes, int source, int region) {
    if ((count + 1) * READ_BYTES > out.capacity()) {
      grow();
    }
    int at = count * READ_BYTES;
    out.putLong(at, remote);
    out.putLong(at + 8, landing);
    out.putInt(at + 16, bytes);
    out.putInt(at + 20, source);
    out.putInt(at + 24, region);
    out.putInt(at + 28, 0);
    count++;
  }

  private void grow() {
    OffHeapBuffer larger = OffHeapBuffer.allocate(2L * out.capacity());
    larger.buffer().put(0, memory.buffer(), 0, out.capacity());
    memory.close();
    memory = larger;
    out = order(larger);
  }

  @Override
  public void close() {
    memory.close();
  }
}
