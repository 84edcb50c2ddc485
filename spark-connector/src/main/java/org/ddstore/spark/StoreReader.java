// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.AttachedStore;
import org.ddstore.Variable;
import org.ddstore.spark.resident.StoreAttachment;

/**
 * A reader of a resident store in an executor or the driver. All readers of a JVM share one
 * attachment; those whose reads are not counted share another. The last close ends an attachment.
 * After a drop of the store, reads throw a {@link org.ddstore.types.StoreGoneException}.
 * Thread-safe.
 */
public final class StoreReader implements AutoCloseable {
  private final AttachedStore store;
  private final Runnable leave;
  private final AtomicBoolean closed = new AtomicBoolean();

  StoreReader(StoreAttachment attachment) {
    this(attachment.store(), attachment::leave);
  }

  /**
   * @param leave action that ends the attachment
   */
  StoreReader(AttachedStore store, Runnable leave) {
    this.store = store;
    this.leave = leave;
  }

  /**
   * {@return the store} The caller must not close it; {@link #close()} does.
   *
   * @throws IllegalStateException if this reader is closed
   */
  public AttachedStore store() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return store;
  }

  /** {@return the rows of the DataFrame} */
  public Variable rows() {
    return store().variable(RankContext.ROWS);
  }

  /** Releases the attachment. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      leave.run();
    }
  }

  @Override
  public String toString() {
    return "StoreReader[%s]".formatted(store);
  }
}
