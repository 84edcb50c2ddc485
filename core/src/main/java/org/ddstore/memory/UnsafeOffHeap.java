// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Off-heap memory from {@code sun.misc.Unsafe} of Java 17 to 21. No public constructor creates a
 * direct buffer over given memory, so the address of a duplicate of a one-byte direct buffer is
 * overwritten.
 */
final class UnsafeOffHeap implements OffHeap {
  private final MethodHandle allocateMemory;
  private final MethodHandle freeMemory;
  private final MethodHandle setMemory;
  private final MethodHandle getLong;
  private final MethodHandle putLong;
  private final MethodHandle putInt;
  private final MethodHandle invokeCleaner;
  private final long addressOffset;
  private final long capacityOffset;

  UnsafeOffHeap() {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field instance = type.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      Object unsafe = instance.get(null);
      allocateMemory = bind(unsafe, "allocateMemory", long.class);
      freeMemory = bind(unsafe, "freeMemory", long.class);
      setMemory = bind(unsafe, "setMemory", long.class, long.class, byte.class);
      getLong = bind(unsafe, "getLong", Object.class, long.class);
      putLong = bind(unsafe, "putLong", Object.class, long.class, long.class);
      putInt = bind(unsafe, "putInt", Object.class, long.class, int.class);
      invokeCleaner = bind(unsafe, "invokeCleaner", ByteBuffer.class);
      Method offset = type.getMethod("objectFieldOffset", Field.class);
      addressOffset = (long) offset.invoke(unsafe, Buffer.class.getDeclaredField("address"));
      capacityOffset = (long) offset.invoke(unsafe, Buffer.class.getDeclaredField("capacity"));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static MethodHandle bind(Object unsafe, String name, Class<?>... parameters)
      throws ReflectiveOperationException {
    return MethodHandles.publicLookup()
        .unreflect(unsafe.getClass().getMethod(name, parameters))
        .bindTo(unsafe);
  }

  @Override
  public Memory allocate(int bytes, int alignmentBytes) {
    long size = (long) bytes + alignmentBytes;
    try {
      long address = (long) allocateMemory.invoke(size);
      setMemory.invoke(address, size, (byte) 0);
      long aligned = (address + alignmentBytes - 1) & -alignmentBytes;
      ByteBuffer buffer = ByteBuffer.allocateDirect(1).duplicate();
      putLong.invoke((Object) buffer, addressOffset, aligned);
      putInt.invoke((Object) buffer, capacityOffset, bytes);
      buffer.clear();
      return new Memory(buffer, () -> run(freeMemory, address));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public long address(ByteBuffer direct) {
    try {
      return (long) getLong.invoke((Object) direct, addressOffset);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Memory map(FileChannel channel, FileChannel.MapMode mode, long position, long bytes)
      throws IOException {
    MappedByteBuffer buffer = channel.map(mode, position, bytes);
    return new Memory(
        buffer,
        () -> {
          if (buffer.capacity() > 0) {
            run(invokeCleaner, buffer);
          }
        });
  }

  private static void run(MethodHandle handle, Object argument) {
    try {
      handle.invoke(argument);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
