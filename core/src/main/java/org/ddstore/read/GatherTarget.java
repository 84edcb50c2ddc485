package org.ddstore.read;

import java.nio.ByteBuffer;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.RawAddress;

/** The target of the values of one field in a gather: a buffer or an array. Reused; one thread. */
public final class GatherTarget {
  private ByteBuffer buffer;
  private long address;
  private Object array;
  private long arrayBytes;

  /** Sets the target to a growing buffer with room for {@code bytes}. */
  public void set(GrowingBuffer memory, long bytes) {
    buffer = memory.ensure(bytes);
    address = memory.address();
    array = null;
  }

  /**
   * Sets the target to a buffer, from index 0.
   *
   * @param bufferAddress address of a direct buffer, from {@link RawAddress}; ignored for others
   */
  public void set(ByteBuffer memory, long bufferAddress) {
    buffer = memory;
    address = bufferAddress;
    array = memory.isDirect() ? null : memory.array();
    arrayBytes = memory.isDirect() ? 0 : memory.arrayOffset();
  }

  /** Sets the target to an array of primitives, which only a {@link GatherKernel} can fill. */
  public void setArray(Object primitives) {
    buffer = null;
    array = primitives;
    arrayBytes = 0;
  }

  /** Returns whether a {@link GatherKernel} pins a Java array to fill this target. */
  public boolean isArray() {
    return array != null;
  }

  /** Drops all references to buffers and arrays. */
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

  /** Returns the array behind the target; null for direct memory. */
  Object array() {
    return array;
  }

  /** Returns the byte position of the target in its array. */
  long arrayBytes() {
    return arrayBytes;
  }
}
