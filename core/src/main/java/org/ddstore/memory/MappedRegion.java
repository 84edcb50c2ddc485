// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A mapped part of a file that is unmapped on close, not by the garbage collector. */
public final class MappedRegion implements AutoCloseable {
  private static final AtomicLong LIVE_BYTES = new AtomicLong();

  private final OffHeap.Memory memory;
  private final AtomicBoolean closed = new AtomicBoolean();

  private MappedRegion(OffHeap.Memory memory) {
    this.memory = memory;
  }

  /** Maps {@code bytes}, at most 2^31 - 1, at {@code position} as a shared mapping. */
  public static MappedRegion map(
      FileChannel channel, FileChannel.MapMode mode, long position, long bytes) throws IOException {
    MappedRegion region =
        new MappedRegion(uninterrupted(() -> OffHeap.INSTANCE.map(channel, mode, position, bytes)));
    region.memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
    LIVE_BYTES.addAndGet(bytes);
    return region;
  }

  /**
   * Maps on a separate thread that no code can interrupt. If a thread is interrupted during {@link
   * FileChannel#map}, the method throws after it has mapped, and the mapping leaks: the killed task
   * of an executor would keep the memory of its shard.
   */
  private static OffHeap.Memory uninterrupted(Callable<OffHeap.Memory> mapping) throws IOException {
    FutureTask<OffHeap.Memory> task = new FutureTask<>(mapping);
    Thread mapper = new Thread(task, "ddstore-map");
    mapper.setDaemon(true);
    mapper.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          mapper.join();
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw unwrapped(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static IOException unwrapped(Throwable cause) {
    if (cause instanceof IOException io) {
      return io;
    }
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    throw (Error) cause;
  }

  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** Returns the memory as a little-endian buffer. */
  public ByteBuffer buffer() {
    return memory.buffer();
  }

  /** Unmaps the region; its buffer must not be accessed afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIVE_BYTES.addAndGet(-memory.buffer().capacity());
      memory.free().run();
    }
  }
}
