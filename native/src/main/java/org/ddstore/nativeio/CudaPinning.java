// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.ddstore.memory.DevicePinning;
import org.ddstore.types.DDStoreException;

/**
 * Memory pinning by {@code cuMemHostRegister}, for the contexts of all devices of this process.
 * Retains the primary context of a device while it is open or memory is pinned by it.
 */
final class CudaPinning implements DevicePinning {
  /** System property that names the driver's library. */
  static final String LIBRARY_PROPERTY = "ddstore.cuda.library";

  private static final String LIBRARY = "libcuda.so.1";

  /** Size of a reason text in bytes: {@code DDS_CUDA_REASON_BYTES}. */
  static final int REASON_BYTES = 256;

  private final long handle;
  private final int device;
  private final AtomicInteger users = new AtomicInteger(1); // this object, and all pinned memory
  private final AtomicBoolean closed = new AtomicBoolean();

  private CudaPinning(long handle, int device) {
    this.handle = handle;
    this.device = device;
  }

  /**
   * The result of the search for the driver.
   *
   * @param version 1000 * major + 10 * minor
   * @param devices number of devices
   * @param current device of the current context of the calling thread; below 0 without a context
   * @param problem reason why the driver cannot be used; empty if it can
   */
  record Driver(int version, int devices, int current, String problem) {}

  /** Looks for the driver. The native library must be loaded. */
  static Driver driver() {
    byte[] reason = new byte[REASON_BYTES];
    int[] facts = new int[3];
    return probe(library(), facts, reason) == 0
        ? new Driver(facts[0], facts[1], facts[2], "")
        : new Driver(0, 0, -1, text(reason));
  }

  static CudaPinning open(int device) {
    byte[] reason = new byte[REASON_BYTES];
    long handle = open(library(), device, reason);
    if (handle == 0) {
      throw new DDStoreException(text(reason));
    }
    return new CudaPinning(handle, device);
  }

  @Override
  public int device() {
    return device;
  }

  /** Returns the name of the driver's library, with a zero at its end. */
  static byte[] library() {
    String name = System.getProperty(LIBRARY_PROPERTY, LIBRARY);
    return (name + "\0").getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte... reason) {
    return new String(reason, StandardCharsets.UTF_8).replace("\0", "");
  }

  @Override
  public Runnable pin(ByteBuffer memory) {
    if (users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
      throw new IllegalStateException("closed: " + this);
    }
    byte[] reason = new byte[REASON_BYTES];
    if (register(handle, memory, reason) != 0) {
      release();
      throw new DDStoreException(
          "%,d bytes cannot be pinned: %s".formatted(memory.capacity(), text(reason)));
    }
    return () -> unpin(memory);
  }

  /** Unpins memory. A driver that has shut down refuses, but has unpinned the memory. */
  private void unpin(ByteBuffer memory) {
    unregister(handle, memory, new byte[REASON_BYTES]);
    release();
  }

  private void release() {
    if (users.decrementAndGet() == 0) {
      close(handle);
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      release();
    }
  }

  @Override
  public String toString() {
    return "CudaPinning[%s, %d users]".formatted(closed.get() ? "closed" : "open", users.get());
  }

  /** Returns 0 and the version, the number of devices and the current one, or a reason. */
  private static native int probe(byte[] library, int[] facts, byte[] reason);

  /** Returns a handle, or 0 and a reason. */
  private static native long open(byte[] library, int device, byte[] reason);

  /** Returns 0, or another number and a reason. */
  private static native int register(long handle, ByteBuffer memory, byte[] reason);

  /** Returns 0, or another number and a reason. */
  private static native int unregister(long handle, ByteBuffer memory, byte[] reason);

  private static native void close(long handle);
}
