// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;

/** Thrown if a process has ended or no longer serves a store. */
public final class PeerGoneException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final boolean ended;

  /**
   * @param ended whether the process has ended; if false, its ranks have left the store
   */
  public PeerGoneException(ProcessAddress process, boolean ended) {
    super("process " + process + (ended ? " has ended" : " has closed the store"));
    this.ended = ended;
  }

  /** Returns true if the process has ended; false if it is alive and has closed the store. */
  public boolean hasEnded() {
    return ended;
  }
}
