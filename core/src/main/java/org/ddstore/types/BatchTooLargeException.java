package org.ddstore.types;

/** Rows of one call that are too large to come together. The message names how many may. */
public class BatchTooLargeException extends IllegalArgumentException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  public BatchTooLargeException(String message) {
    super(message);
  }
}
