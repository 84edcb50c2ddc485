package org.ddstore.memory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A direct buffer outside the heap that is freed when closed and does not count against {@code
 * -XX:MaxDirectMemorySize}. The content is zero at first.
 *
 * <p>From Java 22 on the memory comes from {@code java.lang.foreign.Arena}; before, from {@code
 * sun.misc.Unsafe}, whose memory methods later JDKs warn about. Both are reached by method handles,
 * because the project compiles for Java 17.
 */
public final class OffHeapBuffer implements AutoCloseable {
  /** Every buffer begins at a multiple of this many bytes. */
  public static final int ALIGNMENT_BYTES = 256;

  private static final AtomicLong LIVE_BYTES = new AtomicLong();
  private static final Source SOURCE =
      Runtime.version().feature() >= 22 ? new ArenaSource() : new UnsafeSource();

  private final ByteBuffer buffer;
  private final AutoCloseable memory;
  private final AtomicBoolean closed = new AtomicBoolean();

  private OffHeapBuffer(Allocation allocation) {
    this.buffer = allocation.buffer.order(ByteOrder.LITTLE_ENDIAN);
    this.memory = allocation.memory;
  }

  /**
   * Allocates {@code bytes} of [0, 2^31 - 1 - 256], zeroed.
   *
   * @throws OutOfMemoryError if the operating system has none to give
   */
  public static OffHeapBuffer allocate(long bytes) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE - ALIGNMENT_BYTES) {
      throw new IllegalArgumentException(
          "%,d bytes outside [0, %,d]".formatted(bytes, Integer.MAX_VALUE - ALIGNMENT_BYTES));
    }
    OffHeapBuffer allocated = new OffHeapBuffer(SOURCE.allocate((int) bytes));
    LIVE_BYTES.addAndGet(bytes);
    return allocated;
  }

  /** Bytes allocated and not yet closed in this JVM. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** The memory, little-endian, position 0, limit = capacity = the bytes asked for. */
  public ByteBuffer buffer() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return buffer;
  }

  /** Frees the memory; the buffer must not be touched afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIVE_BYTES.addAndGet(-buffer.capacity());
      try {
        memory.close();
      } catch (Exception e) {
        throw new IllegalStateException("cannot free " + this, e);
      }
    }
  }

  @Override
  public String toString() {
    return "OffHeapBuffer[%,d bytes]".formatted(buffer.capacity());
  }

  private record Allocation(ByteBuffer buffer, AutoCloseable memory) {}

  private interface Source {
    Allocation allocate(int bytes);
  }

  /** java.lang.foreign.Arena.ofShared(), Java 22 and later. */
  private static final class ArenaSource implements Source {
    private final MethodHandle ofShared;
    private final MethodHandle allocate;
    private final MethodHandle asByteBuffer;

    ArenaSource() {
      try {
        Class<?> arena = Class.forName("java.lang.foreign.Arena");
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        ofShared = lookup.findStatic(arena, "ofShared", MethodType.methodType(arena));
        allocate =
            lookup.findVirtual(
                arena, "allocate", MethodType.methodType(segment, long.class, long.class));
        asByteBuffer =
            lookup.findVirtual(segment, "asByteBuffer", MethodType.methodType(ByteBuffer.class));
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    @Override
    public Allocation allocate(int bytes) {
      try {
        AutoCloseable arena = (AutoCloseable) ofShared.invoke();
        Object segment = allocate.invoke(arena, (long) bytes, (long) ALIGNMENT_BYTES);
        return new Allocation((ByteBuffer) asByteBuffer.invoke(segment), arena);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * Unsafe.allocateMemory, Java 17 to 21. A duplicate of a one-byte direct buffer is pointed at the
   * memory, as no public constructor does so.
   */
  private static final class UnsafeSource implements Source {
    private final MethodHandle allocateMemory;
    private final MethodHandle freeMemory;
    private final MethodHandle setMemory;
    private final MethodHandle putLong;
    private final MethodHandle putInt;
    private final long addressOffset;
    private final long capacityOffset;

    UnsafeSource() {
      try {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field instance = type.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Object unsafe = instance.get(null);
        allocateMemory = bind(unsafe, "allocateMemory", long.class);
        freeMemory = bind(unsafe, "freeMemory", long.class);
        setMemory = bind(unsafe, "setMemory", long.class, long.class, byte.class);
        putLong = bind(unsafe, "putLong", Object.class, long.class, long.class);
        putInt = bind(unsafe, "putInt", Object.class, long.class, int.class);
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
    public Allocation allocate(int bytes) {
      try {
        long size = (long) bytes + ALIGNMENT_BYTES;
        long address = (long) allocateMemory.invoke(size);
        setMemory.invoke(address, size, (byte) 0);
        long aligned = (address + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
        ByteBuffer buffer = ByteBuffer.allocateDirect(1).duplicate();
        putLong.invoke((Object) buffer, addressOffset, aligned);
        putInt.invoke((Object) buffer, capacityOffset, bytes);
        buffer.clear();
        return new Allocation(buffer, () -> free(address));
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }

    private void free(long address) {
      try {
        freeMemory.invoke(address);
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
