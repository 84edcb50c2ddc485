// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceConfigurationError;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.types.DDStoreException;

/**
 * The source of batch buffers: memory pinned for a device if a driver is available, else plain
 * memory. If the driver refuses to pin a buffer, the buffer is plain memory and {@link
 * #description()} reports it. Any thread.
 */
public final class HostMemory implements AutoCloseable {
  private static final int PAGE_BYTES = 4096;

  private final DevicePinning pinning; // null if nothing is pinned
  private final String opened;
  private final AtomicLong pinnedBytes = new AtomicLong();
  private volatile String refused;

  HostMemory(DevicePinning pinning, String opened) {
    this.pinning = pinning;
    this.opened = opened;
  }

  /** Returns a source of memory that is not pinned, with a human-readable reason. */
  public static HostMemory plain(String reason) {
    return new HostMemory(null, "not pinned: " + reason);
  }

  /**
   * Opens a source of memory pinned for a device, or of plain memory if pinning is not possible.
   * The caller closes it; allocated buffers stay valid. The first call in a process may take one
   * second.
   *
   * @param configured device that the user has configured
   * @throws IllegalArgumentException if there is a driver, and it has no such device or {@link
   *     DeviceChoice} finds a disagreement; the message names both
   */
  public static HostMemory forDevice(OptionalInt configured) {
    try {
      DevicePinning.Provider provider = Devices.provider().orElse(null);
      Optional<String> problem = Devices.problem(provider);
      if (problem.isPresent()) {
        return plain(problem.get());
      }
      String localRank = System.getenv(Devices.LOCAL_RANK);
      int device = DeviceChoice.of(configured, List.of(), localRank, provider.devices()).require();
      return of(provider.open(device), provider.description());
    } catch (DDStoreException | ServiceConfigurationError e) {
      return plain(e.getMessage());
    }
  }

  /** Returns a source of memory pinned by a driver; the source closes the pinning. */
  static HostMemory of(DevicePinning pinning, String driver) {
    return new HostMemory(
        pinning, "pinned for device %d by %s".formatted(pinning.device(), driver));
  }

  /** Returns the result of {@link #forDevice} as text, without opening a device. */
  public static String probe() {
    try {
      DevicePinning.Provider provider = Devices.provider().orElse(null);
      return Devices.problem(provider)
          .map(problem -> "not pinned: " + problem)
          .orElseGet(() -> "pinned by " + provider.description());
    } catch (ServiceConfigurationError e) {
      return "not pinned: " + e.getMessage();
    }
  }

  /** Allocates a zeroed buffer that the caller closes. A pinned buffer has whole pages. */
  OffHeapBuffer allocate(long bytes) {
    if (pinning == null || bytes == 0) {
      return OffHeapBuffer.allocate(bytes);
    }
    long pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    return OffHeapBuffer.allocate(Math.min(pages, GrowingBuffer.MAX_BYTES), PAGE_BYTES, this::pin);
  }

  /** Pins a buffer if the driver and an open pinning permit it. Returns the action to unpin it. */
  private Runnable pin(ByteBuffer memory) {
    try {
      Runnable unpin = pinning.pin(memory);
      long bytes = memory.capacity();
      pinnedBytes.addAndGet(bytes);
      return () -> {
        pinnedBytes.addAndGet(-bytes);
        unpin.run();
      };
    } catch (DDStoreException | IllegalStateException e) {
      refused = e.getMessage();
      return () -> {};
    }
  }

  public long pinnedBytes() {
    return pinnedBytes.get();
  }

  /** Returns a human-readable text: the driver that pins the memory, or why it is not pinned. */
  public String description() {
    String refusal = refused;
    return refusal == null ? opened : "%s, except for some buffers: %s".formatted(opened, refusal);
  }

  @Override
  public void close() {
    if (pinning != null) {
      pinning.close();
    }
  }

  @Override
  public String toString() {
    return "HostMemory[%s]".formatted(description());
  }
}
