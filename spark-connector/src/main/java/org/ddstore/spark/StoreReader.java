package org.ddstore.spark;

import org.ddstore.AttachedStore;
import org.ddstore.Variable;

/**
 * A resident store as a task of an executor, or the driver, reads it. All of a JVM share one
 * attachment; the last close ends it. Any thread.
 */
@SuppressWarnings("DoNotCallSuggester") // the bodies follow
public final class StoreReader implements AutoCloseable {
  StoreReader() {}

  /** The store; closed by {@link #close()}, never by the caller. */
  public AttachedStore store() {
    throw new UnsupportedOperationException();
  }

  /** The rows of the DataFrame. */
  public Variable rows() {
    return store().variable(RankContext.ROWS);
  }

  /** Ends this use of the store. Idempotent. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
