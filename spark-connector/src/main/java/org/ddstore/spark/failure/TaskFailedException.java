// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.PermanentFailure;

/** Thrown by a job of {@link TaskResults} for a permanent failure of a task, which is the cause. */
public final class TaskFailedException extends StoreJobException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /**
   * @param cause exception of the task; null if the driver cannot read it
   */
  TaskFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
