package org.ddstore.spark.ingest;

import org.ddstore.types.DDStoreException;

/**
 * The source gives other rows than when the load was planned, or gave the rows of two computations
 * while it was planned. A new plan may succeed.
 */
public final class SourceChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  SourceChangedException(String message) {
    super(message);
  }

  SourceChangedException(String message, Throwable cause) {
    super(message, cause);
  }
}
