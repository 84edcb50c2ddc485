package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Locks memory of this process in place through the driver of an accelerator, so that copies to it
 * run at full speed and beside the program. Any thread.
 */
public interface DevicePinning extends AutoCloseable {
  /** Announces a driver. Found by {@link java.util.ServiceLoader}: a build without one runs. */
  interface Provider {
    /**
     * Why nothing can be pinned by this process, found out now; empty if it can. Throws nothing.
     */
    Optional<String> problem();

    /** The driver and its version. Only without a problem. */
    String description();

    /**
     * Opens a device.
     *
     * @param device its number; one that the driver does not have stands for its first
     * @throws org.ddstore.types.DDStoreException if the driver refuses
     */
    DevicePinning open(int device);
  }

  /** The number of the device that was opened, maybe not the one asked for. */
  int device();

  /**
   * Locks memory, until what is returned is run: before the memory is freed, maybe after {@link
   * #close()}.
   *
   * @param memory direct, of whole pages, no page of which is pinned already
   * @throws org.ddstore.types.DDStoreException if the driver refuses
   * @throws IllegalStateException after {@link #close()}, if nothing is pinned any more
   */
  Runnable pin(ByteBuffer memory);

  /** Ends it when what is pinned has been let go. Idempotent. */
  @Override
  void close();
}
