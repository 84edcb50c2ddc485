package org.ddstore.spark;

import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.AttachedStore;
import org.ddstore.Variable;
import org.ddstore.spark.resident.StoreAttachment;

/**
 * A resident store as a task of an executor, or the driver, reads it. All of a JVM share one
 * attachment, and those not counted another; the last close ends it. Rows of this process and this
 * host stay readable until then, also when the store is dropped. Any thread.
 */
public final class StoreReader implements AutoCloseable {
  private final StoreAttachment attachment;
  private final AtomicBoolean closed = new AtomicBoolean();

  StoreReader(StoreAttachment attachment) {
    this.attachment = attachment;
  }

  /**
   * The store; closed by {@link #close()}, never by the caller.
   *
   * @throws IllegalStateException if this is closed
   */
  public AttachedStore store() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return attachment.store();
  }

  /** The rows of the DataFrame. */
  public Variable rows() {
    return store().variable(RankContext.ROWS);
  }

  /** Ends this use of the store. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      attachment.leave();
    }
  }

  @Override
  public String toString() {
    return "StoreReader[%s]".formatted(attachment.store());
  }
}
