// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.Optional;

/** The pinning of host memory by a driver, for asynchronous copies at full speed. */
public interface DevicePinning extends AutoCloseable {
  /** A provider of a driver, found by {@link java.util.ServiceLoader}. Optional. */
  interface Provider {
    /** Returns why this process currently cannot pin memory; empty if it can. Throws nothing. */
    Optional<String> problem();

    /** Returns the driver and its version; only without a problem. */
    String description();

    /**
     * Returns the devices that the driver has, and the one that the calling thread uses; only
     * without a problem.
     *
     * @throws org.ddstore.types.DDStoreException if the driver refuses
     */
    Devices devices();

    /**
     * Opens a device for pinning.
     *
     * @param device number of the device
     * @throws org.ddstore.types.DDStoreException if the driver refuses, or has no such device
     */
    DevicePinning open(int device);

    /**
     * Opens a stream of copies to a device; the caller closes it.
     *
     * @param device number of the device
     * @throws org.ddstore.types.DDStoreException if the driver refuses, or has no such device
     */
    DeviceStream openStream(int device);
  }

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
