package org.ddstore.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A mapped part of a file that is unmapped when closed, not when the collector finds it. */
public final class MappedRegion implements AutoCloseable {
  private static final AtomicLong LIVE_BYTES = new AtomicLong();
  private static final MethodHandle INVOKE_CLEANER = findInvokeCleaner();

  private final MappedByteBuffer buffer;
  private final AtomicBoolean closed = new AtomicBoolean();

  private MappedRegion(MappedByteBuffer buffer) {
    this.buffer = buffer;
  }

  /** Maps {@code bytes} of at most 2^31 - 1 from {@code position} on, shared. */
  public static MappedRegion map(
      FileChannel channel, FileChannel.MapMode mode, long position, long bytes) throws IOException {
    MappedRegion region = new MappedRegion(channel.map(mode, position, bytes));
    region.buffer.order(ByteOrder.LITTLE_ENDIAN);
    LIVE_BYTES.addAndGet(bytes);
    return region;
  }

  /** Bytes mapped and not yet unmapped in this JVM. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** The memory, little-endian. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** Unmaps; the buffer must not be touched afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIVE_BYTES.addAndGet(-buffer.capacity());
      if (buffer.capacity() > 0) {
        try {
          INVOKE_CLEANER.invoke((ByteBuffer) buffer);
        } catch (Throwable e) {
          throw new IllegalStateException("cannot unmap " + buffer, e);
        }
      }
    }
  }

  private static MethodHandle findInvokeCleaner() {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field instance = type.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      return MethodHandles.publicLookup()
          .findVirtual(type, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
          .bindTo(instance.get(null));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
