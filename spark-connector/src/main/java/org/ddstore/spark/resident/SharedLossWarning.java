// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Optional;
import java.util.TreeSet;
import org.ddstore.spark.backend.SharedLoss;

/** A warning of replicas whose executors all end together. */
public final class SharedLossWarning {
  private SharedLossWarning() {}

  /**
   * Returns a warning if all copies of some shard of a store are on executors that end together.
   */
  public static Optional<String> of(String name, ResidentLayout layout, SharedLoss loss) {
    boolean isUnprotected =
        layout.groups().groups() > 1
            && !layout.hasGaps()
            && layout.without(loss.executors()).hasGaps();
    if (!isUnprotected) {
      return Optional.empty();
    }
    return Optional.of(
        "all copies of shards of \"%s\" are on executors %s of %s: if one of them is lost, all are replaced, and rows are loaded again from their source. Use another transport for jobs beside this store, or run them in another application"
            .formatted(name, new TreeSet<>(loss.executors()), loss.group()));
  }
}
