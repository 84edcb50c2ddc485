package org.ddstore.types;

/** The thread was interrupted while it waited in a collective; its interrupt flag stays set. */
public class CollectiveInterruptedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public CollectiveInterruptedException(String message) {
    super(message);
  }
}
