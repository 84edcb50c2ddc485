// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import org.apache.spark.ExceptionFailure;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/** Thrown for a permanent failure of a task that reads rows, which is the cause. */
public final class TaskFailedException extends StoreJobException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  private TaskFailedException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Returns the exception to throw for a permanent failure that Spark reports. */
  public static DDStoreException of(ExceptionFailure failure) {
    return failure.exception().isDefined()
        ? of(message(failure.exception().get()), failure.exception().get())
        : of(message(RetryPolicy.describe(failure)), null);
  }

  /**
   * Returns the exception to throw for a permanent failure: that of the task if it is about data or
   * about the executor.
   *
   * @param cause exception of the task; null if the driver cannot read it
   */
  static DDStoreException of(String message, Throwable cause) {
    return cause instanceof IngestException || cause instanceof PreflightException
        ? (DDStoreException) cause
        : new TaskFailedException(message, cause);
  }

  /** Returns the message of a failure: that of an exception of ours, or the description. */
  static String message(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof DDStoreException && each instanceof PermanentFailure) {
        return "the rows cannot be read: " + each.getMessage();
      }
    }
    return message(RetryPolicy.describe(failure));
  }

  private static String message(String description) {
    return "the rows cannot be read: " + description + RetryPolicy.NO_OTHER;
  }
}
