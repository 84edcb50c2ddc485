package org.ddstore.types;

/**
 * A wait reached its deadline. The message names the call, the time allowed and what was missing.
 */
public class DeadlineExceededException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public DeadlineExceededException(String message) {
    super(message);
  }

  /**
   * @param cause where code stands that is waited for; may be null
   */
  public DeadlineExceededException(String message, Throwable cause) {
    super(message, cause);
  }
}
