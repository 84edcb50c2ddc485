// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.ddstore.architecture.ArchitectureContract;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.spark.backend.TransportBackends;
import org.junit.jupiter.api.Test;

/** Packages of core, native and the connector together. */
class ArchitectureTest extends ArchitectureContract {
  private static final int MAX_LAYERS = 10;

  ArchitectureTest() {
    super("org.ddstore.transport", "org.ddstore.fabric", "org.ddstore.spark.job");
  }

  @Test
  void connectorHasFewLayers() {
    assertThat(ArchitectureRules.layers(ALL, name -> name.startsWith("org.ddstore.spark")))
        .hasSizeLessThanOrEqualTo(MAX_LAYERS);
  }

  @Test
  void transportsAreOnTheClassPath() {
    assertThat(TransportBackends.all()).isNotEmpty();
  }
}
