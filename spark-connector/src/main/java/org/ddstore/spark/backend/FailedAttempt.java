// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.List;
import java.util.Set;

/**
 * The failure of one attempt of a job, as the driver has seen it.
 *
 * @param executors ids of the executors that ran ranks
 * @param failures exceptions of failed ranks, as far as the driver has received them
 * @param hasLostExecutor whether a rank failed because its executor ended
 */
public record FailedAttempt(
    Set<String> executors, List<Throwable> failures, boolean hasLostExecutor) {
  public FailedAttempt {
    executors = Set.copyOf(executors);
    failures = List.copyOf(failures);
  }
}
