// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The pinning of host memory by the driver of an accelerator, so that copies to the device run at
 * full speed and asynchronously. Any thread.
 */
public interface DevicePinning extends AutoCloseable {
  /** A provider of a driver, found by {@link java.util.ServiceLoader}. Optional. */
  interface Provider {
    /**
     * Returns the reason why this process currently cannot pin memory; empty if it can. Throws
     * nothing.
     */
    Optional<String> problem();

    /** Returns the driver and its version; only without a problem. */
    String description();

    /**
     * Opens a device.
     *
     * @param device number of the device; a number that does not exist selects the first device
     * @throws org.ddstore.types.DDStoreException if the driver refuses
     */
    DevicePinning open(int device);
  }

  /** Returns the number of the open device, which may differ from the requested one. */
  int device();

  /**
   * Pins memory. The caller runs the returned action before it frees the memory, even after {@link
   * #close()}.
   *
   * @param memory direct buffer of whole pages, none of them pinned
   * @return action that unpins the memory
   * @throws org.ddstore.types.DDStoreException if the driver refuses
   * @throws IllegalStateException after {@link #close()}, if no memory is pinned
   */
  Runnable pin(ByteBuffer memory);

  /** Closes the device when all pinned memory has been unpinned. Idempotent. */
  @Override
  void close();
}
