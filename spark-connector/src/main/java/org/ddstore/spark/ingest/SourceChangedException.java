package org.ddstore.spark.ingest;

import org.ddstore.DDStoreException;

/** The source gave another number of rows than when the load was planned. Plan again. */
public final class SourceChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  SourceChangedException(String message) {
    super(message);
  }
}
