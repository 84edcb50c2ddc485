package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A mapped part of a file that is unmapped when closed, not when the collector finds it. */
public final class MappedRegion implements AutoCloseable {
  private static final AtomicLong LIVE_BYTES = new AtomicLong();

  private final OffHeap.Memory memory;
  private final AtomicBoolean closed = new AtomicBoolean();

  private MappedRegion(OffHeap.Memory memory) {
    this.memory = memory;
  }

  /** Maps {@code bytes} of at most 2^31 - 1 from {@code position} on, shared. */
  public static MappedRegion map(
      FileChannel channel, FileChannel.MapMode mode, long position, long bytes) throws IOException {
    MappedRegion region = new MappedRegion(OffHeap.INSTANCE.map(channel, mode, position, bytes));
    region.memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
    LIVE_BYTES.addAndGet(bytes);
    return region;
  }

  /** Bytes mapped and not yet unmapped in this JVM. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** The memory, little-endian. */
  public ByteBuffer buffer() {
    return memory.buffer();
  }

  /** Unmaps; the buffer must not be touched afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIVE_BYTES.addAndGet(-memory.buffer().capacity());
      memory.free().run();
    }
  }
}
