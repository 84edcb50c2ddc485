package org.ddstore.transport;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;

/** A process does not serve a store any more. */
public final class PeerGoneException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final boolean ended;

  /**
   * @param ended whether the process itself has ended; else its ranks have left the store
   */
  public PeerGoneException(ProcessAddress process, boolean ended) {
    super(process + (ended ? " has ended" : " has closed the store"));
    this.ended = ended;
  }

  /** True if the process has ended; false if it lives and has closed the store. */
  public boolean hasEnded() {
    return ended;
  }
}
