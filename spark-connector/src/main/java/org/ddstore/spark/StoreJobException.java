package org.ddstore.spark;

import org.ddstore.DDStoreException;

/**
 * A barrier job failed as often as it may. The cause is what a rank threw in the last attempt, if a
 * rank lived to say so.
 */
public class StoreJobException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  StoreJobException(String message, Throwable cause) {
    super(message, cause);
  }
}
