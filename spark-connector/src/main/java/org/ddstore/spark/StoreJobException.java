package org.ddstore.spark;

import org.ddstore.DDStoreException;

/**
 * A barrier job, or the plan of a load, failed as often as it may. The cause is what a rank or a
 * task threw in the last attempt, if one lived to say so.
 */
public class StoreJobException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  StoreJobException(String message, Throwable cause) {
    super(message, cause);
  }
}
