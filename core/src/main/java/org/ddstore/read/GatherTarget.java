package org.ddstore.read;

import java.nio.ByteBuffer;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.RawAddress;

/** Where a gather puts the values of one field: a buffer, or a Java array. Reused; one thread. */
public final class GatherTarget {
  private ByteBuffer buffer;
  private long address;
  private Object array;
  private long arrayBytes;

  /** Room for {@code bytes} in memory that grows. */
  public void set(GrowingBuffer memory, long bytes) {
    buffer = memory.ensure(bytes);
    address = memory.address();
    array = null;
  }

  /**
   * A buffer, from index 0 on.
   *
   * @param bufferAddress that of a direct one, by {@link RawAddress}; else ignored
   */
  public void set(ByteBuffer memory, long bufferAddress) {
    buffer = memory;
    address = bufferAddress;
    array = memory.isDirect() ? null : memory.array();
    arrayBytes = memory.isDirect() ? 0 : memory.arrayOffset();
  }

  /** An array of primitives, which only a {@link GatherKernel} can fill. */
  public void setArray(Object primitives) {
    buffer = null;
    array = primitives;
    arrayBytes = 0;
  }

  /** True if a {@link GatherKernel} would pin a Java array while it fills this. */
  public boolean isArray() {
    return array != null;
  }

  /** Keeps nothing alive any more. */
  public void clear() {
    buffer = null;
    array = null;
    address = 0;
  }

  ByteBuffer buffer() {
    return buffer;
  }

  long address() {
    return address;
  }

  /** The array behind the target; null if it is direct memory. */
  Object array() {
    return array;
  }

  /** Where the target begins in its array. */
  long arrayBytes() {
    return arrayBytes;
  }
}
