package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * A barrier job, or the plan of a load, failed in its last attempt, or in one that another attempt
 * cannot mend. The cause is what a rank or a task threw in that attempt, if one lived to report it.
 */
public class StoreJobException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public StoreJobException(String message, Throwable cause) {
    super(message, cause);
  }
}
