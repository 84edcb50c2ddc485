// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.ddstore.loader.EpochLoop;

/**
 * The batches of one epoch on the device, for a single iteration. Each batch is valid until the
 * next is requested; use {@link DeviceLoader#pop} for batches that must live longer. The loop may
 * be left early: the next epoch, or the close of the loader, discards the rest.
 */
public final class DeviceLoop implements Iterable<DeviceBatch> {
  private final DeviceLoader loader;
  private final EpochLoop host;
  private DeviceBatch last;

  DeviceLoop(DeviceLoader loader, EpochLoop host) {
    this.loader = loader;
    this.host = host;
  }

  /** Returns the iterator; a second iteration continues where the first stopped. */
  @Override
  public Iterator<DeviceBatch> iterator() {
    Iterator<?> hostIterator = host.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        boolean isMore = hostIterator.hasNext(); // false ends the time of the host's loop
        if (!isMore) {
          closeLast();
        }
        return isMore;
      }

      @Override
      public DeviceBatch next() {
        return DeviceLoop.this.next();
      }
    };
  }

  /** {@return the number of batches still to come} */
  public long remaining() {
    return host.remaining();
  }

  /**
   * {@return the next batch and closes the previous one}
   *
   * @throws org.ddstore.types.PoolStarvedException if no batch is ready within the loader's
   *     timeout; another call continues to wait
   * @throws org.ddstore.types.DeviceException if the driver refuses a copy, or one has failed
   */
  public DeviceBatch next() {
    closeLast();
    if (remaining() == 0) {
      throw new NoSuchElementException("the epoch has no more batches");
    }
    last = loader.popFor(this);
    return last;
  }

  void closeLast() {
    if (last != null) {
      DeviceBatch closing = last;
      last = null;
      closing.close();
    }
  }
}
