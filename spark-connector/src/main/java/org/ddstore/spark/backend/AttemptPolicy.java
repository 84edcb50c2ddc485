// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The measures of a transport on the driver, around the attempts of one job. */
public interface AttemptPolicy {
  AttemptPolicy NONE = new AttemptPolicy() {};

  /**
   * Returns whether {@link #replaceExecutors} can end executors. After a failure the job then waits
   * for tasks before it calls it.
   */
  default boolean canReplaceExecutors() {
    return false;
  }

  /**
   * Ends executors that cannot take part in another job, and waits until they are gone. Called
   * before each attempt and after each failed one. Blocks.
   *
   * @throws org.ddstore.types.DDStoreException if an executor does not end
   */
  default void replaceExecutors() {}

  /** Returns a warning before an attempt. */
  default Optional<String> warning(Collection<String> executors) {
    return Optional.empty();
  }

  /**
   * Notes the success of the job.
   *
   * @param executors supplier of the ids of the executors that ran ranks; blocks shortly
   * @return executors that end together from now on; empty if none do
   */
  default Optional<SharedLoss> succeeded(Supplier<Set<String>> executors) {
    return Optional.empty();
  }

  /**
   * Notes the failure of an attempt.
   *
   * @return text that is added to the message of the failure; empty for none
   */
  default String failed(FailedAttempt attempt) {
    return "";
  }
}
