package org.ddstore.spark;

import org.ddstore.DDStoreException;

/**
 * A barrier job failed in its last attempt, or in one that another attempt cannot mend. The cause
 * is what a rank threw in that attempt, if a rank lived to report it.
 */
public class StoreJobException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  StoreJobException(String message, Throwable cause) {
    super(message, cause);
  }
}
