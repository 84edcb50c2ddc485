// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.ddstore.spark.config.Setting;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/**
 * A lock that lets one thread at a time write a store. Other threads wait in order of arrival,
 * until a deadline or an interrupt. Reentrant.
 */
public final class WriteLock {
  private final String store;
  private final ReentrantLock lock = new ReentrantLock(true);
  private volatile String holder = "";

  public WriteLock(String store) {
    this.store = store;
  }

  /**
   * Runs an action while no other thread writes the store.
   *
   * @param timeout maximum time to wait for other writers
   * @throws DeadlineExceededException if another thread still writes the store after the timeout
   * @throws DDStoreException if the thread is interrupted while it waits; its flag stays set
   */
  public <T> T hold(Duration timeout, Supplier<T> action) {
    enter(timeout);
    try {
      holder = Thread.currentThread().getName();
      return action.get();
    } finally {
      if (lock.getHoldCount() == 1) {
        holder = "";
      }
      lock.unlock();
    }
  }

  private void enter(Duration timeout) {
    try {
      if (!lock.tryLock(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new DeadlineExceededException(
            "store \"%s\" is being written by thread \"%s\" and was not free within %s: raise %s, or write again later"
                .formatted(store, holder, timeout, Setting.WRITE_TIMEOUT.key()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      String other = holder;
      throw new DDStoreException(
          "interrupted while waiting to write store \"%s\"%s; nothing was written"
              .formatted(
                  store, other.isEmpty() ? "" : ", which thread \"" + other + "\" is writing"),
          e);
    }
  }
}
