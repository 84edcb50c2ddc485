package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * The source gives other rows than when the load was planned, or gave the rows of two computations
 * while it was planned. A new plan may succeed.
 */
public final class SourceChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public SourceChangedException(String message) {
    super(message);
  }

  public SourceChangedException(String message, Throwable cause) {
    super(message, cause);
  }
}
