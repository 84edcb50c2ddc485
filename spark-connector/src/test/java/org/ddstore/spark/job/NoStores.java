// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.ddstore.spark.backend.SharedLoss;

/** An application without resident stores. */
final class NoStores implements ResidentView {
  @Override
  public Map<String, Long> memoryBytes() {
    return Map.of();
  }

  @Override
  public List<String> lossWith(Set<String> executors) {
    return List.of();
  }

  @Override
  public void warnOf(SharedLoss loss) {}
}
