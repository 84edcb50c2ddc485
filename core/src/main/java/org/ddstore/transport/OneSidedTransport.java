package org.ddstore.transport;

/**
 * A transport whose data go another way than the connections of the store's processes: the owner's
 * program takes no part in a read. One per store and process; who opens it closes it.
 */
public interface OneSidedTransport extends Transport, AutoCloseable {
  /** For people: what it was opened with and why, {@link OneSidedChoice#detail()}. */
  String detail();

  /**
   * Ends it for this process. What it serves is refused from now on, and the references that {@link
   * #export} took are given back. Its readers are to be closed before. Idempotent.
   */
  @Override
  void close();
}
