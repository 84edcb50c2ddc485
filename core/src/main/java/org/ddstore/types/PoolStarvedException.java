package org.ddstore.types;

/**
 * No batch was ready in time: the source is slow, has ended, or all buffers are held by the
 * consumer. Asking again later goes on where this left off.
 */
public class PoolStarvedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public PoolStarvedException(String message) {
    super(message);
  }

  /**
   * @param cause where code of the user's stands that is waited for; may be null
   */
  public PoolStarvedException(String message, Throwable cause) {
    super(message, cause);
  }
}
