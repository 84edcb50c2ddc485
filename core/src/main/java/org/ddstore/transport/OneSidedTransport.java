// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

/**
 * A transport that moves data outside the connections of the store's processes: the owner's program
 * takes no part in a read. One per store and process; its opener closes it.
 */
public interface OneSidedTransport extends Transport, AutoCloseable {
  /** Returns the human-readable {@link OneSidedChoice#detail()} of the open transport. */
  String detail();

  /**
   * Closes the transport in this process: refuses further reads and releases the references that
   * {@link #export} took. Its readers must be closed first. Idempotent.
   */
  @Override
  void close();
}
