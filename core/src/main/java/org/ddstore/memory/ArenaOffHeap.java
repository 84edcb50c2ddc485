// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Off-heap memory from {@code Arena.ofShared()} of Java 22, one arena for each. */
final class ArenaOffHeap implements OffHeap {
  private final MethodHandle ofShared;
  private final MethodHandle allocate;
  private final MethodHandle map;
  private final MethodHandle asByteBuffer;
  private final MethodHandle addressOf;

  ArenaOffHeap() {
    try {
      Class<?> arena = Class.forName("java.lang.foreign.Arena");
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      ofShared = lookup.findStatic(arena, "ofShared", MethodType.methodType(arena));
      allocate =
          lookup.findVirtual(
              arena, "allocate", MethodType.methodType(segment, long.class, long.class));
      map =
          lookup.findVirtual(
              FileChannel.class,
              "map",
              MethodType.methodType(
                  segment, FileChannel.MapMode.class, long.class, long.class, arena));
      asByteBuffer =
          lookup.findVirtual(segment, "asByteBuffer", MethodType.methodType(ByteBuffer.class));
      addressOf =
          MethodHandles.filterReturnValue(
              lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class)),
              lookup.findVirtual(segment, "address", MethodType.methodType(long.class)));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @Override
  public Memory allocate(int bytes, int alignmentBytes) {
    try {
      return inArena(arena -> allocate.invoke(arena, (long) bytes, (long) alignmentBytes));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public long address(ByteBuffer direct) {
    try {
      return (long) addressOf.invoke((Buffer) direct.duplicate().clear());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Memory map(FileChannel channel, FileChannel.MapMode mode, long position, long bytes)
      throws IOException {
    return inArena(arena -> map.invoke(channel, mode, position, bytes, arena));
  }

  private interface SegmentSource {
    Object in(Object arena) throws Throwable;
  }

  private Memory inArena(SegmentSource source) throws IOException {
    AutoCloseable arena = null;
    try {
      arena = (AutoCloseable) ofShared.invoke();
      ByteBuffer buffer = (ByteBuffer) asByteBuffer.invoke(source.in(arena));
      AutoCloseable opened = arena;
      return new Memory(buffer, () -> close(opened));
    } catch (Throwable e) {
      if (arena != null) {
        close(arena);
      }
      if (e instanceof IOException io) {
        throw io;
      }
      if (e instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      if (e instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e);
    }
  }

  private static void close(AutoCloseable arena) {
    try {
      arena.close();
    } catch (Exception e) {
      throw new IllegalStateException("cannot close " + arena, e);
    }
  }
}
