package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.types.DDStoreException;

/**
 * Where the buffers of batches come from: pinned for a device where there is a driver that does it,
 * else plain. What the driver refuses is plain memory, too; {@link #description()} says so. Any
 * thread.
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

  /**
   * Memory that is not pinned.
   *
   * @param reason for people
   */
  public static HostMemory plain(String reason) {
    return new HostMemory(null, "not pinned: " + reason);
  }

  /**
   * Memory pinned for a device, plain memory where that cannot be. To be closed by the caller; what
   * was allocated stays valid. The first call of a process may take a second.
   */
  public static HostMemory forDevice(int device) {
    try {
      DevicePinning.Provider provider = provider().orElse(null);
      Optional<String> problem = problem(provider);
      return problem.isPresent()
          ? plain(problem.get())
          : of(provider.open(device), device, provider.description());
    } catch (DDStoreException | ServiceConfigurationError e) {
      return plain(e.getMessage());
    }
  }

  /**
   * Memory pinned by a driver.
   *
   * @param pinning closed with the memory
   * @param wanted the device that was asked for
   */
  static HostMemory of(DevicePinning pinning, int wanted, String driver) {
    int taken = pinning.device();
    String instead =
        taken == wanted ? "" : ", in place of %d which it does not have".formatted(wanted);
    return new HostMemory(
        pinning, "pinned for device %d by %s%s".formatted(taken, driver, instead));
  }

  /** What {@link #forDevice} would do, for people, without a device being opened. */
  public static String probe() {
    try {
      DevicePinning.Provider provider = provider().orElse(null);
      return problem(provider)
          .map(problem -> "not pinned: " + problem)
          .orElseGet(() -> "pinned by " + provider.description());
    } catch (ServiceConfigurationError e) {
      return "not pinned: " + e.getMessage();
    }
  }

  private static Optional<DevicePinning.Provider> provider() {
    return ServiceLoader.load(DevicePinning.Provider.class, HostMemory.class.getClassLoader())
        .findFirst();
  }

  private static Optional<String> problem(DevicePinning.Provider provider) {
    return provider == null
        ? Optional.of("the module ddstore-native is not on the class path")
        : provider.problem();
  }

  /** A zeroed buffer, to be closed by the caller. Of whole pages if it is pinned. */
  OffHeapBuffer allocate(long bytes) {
    if (pinning == null || bytes == 0) {
      return OffHeapBuffer.allocate(bytes);
    }
    long pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    return OffHeapBuffer.allocate(Math.min(pages, GrowingBuffer.MAX_BYTES), PAGE_BYTES, this::pin);
  }

  /** Pins a buffer if that can be, also not after the close, and returns what undoes it. */
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

  /** Bytes that are pinned now. */
  public long pinnedBytes() {
    return pinnedBytes.get();
  }

  /** For people: pinned and by what, or why not. */
  public String description() {
    String why = refused;
    return why == null ? opened : "%s, but not all of it: %s".formatted(opened, why);
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
