// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.Set;

/**
 * Executors that a transport ends together if one of them is lost.
 *
 * @param group human-readable name of what they form, such as {@code one MPI world}
 */
public record SharedLoss(Set<String> executors, String group) {
  public SharedLoss {
    executors = Set.copyOf(executors);
  }
}
