// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.ddstore.architecture.ArchitectureContract;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.spark.backend.TransportBackend;
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
  void packagesOfThePomExist() {
    assertThat(ArchitectureRules.packagesForUsers(ALL))
        .containsExactlyInAnyOrderElementsOf(USER_PACKAGES);
  }

  @Test
  void onlyBackendsKnowTransportsByName() {
    Set<String> names =
        TransportBackends.all().stream().map(TransportBackend::name).collect(Collectors.toSet());
    Set<String> packages = new HashSet<>(Set.of("org.ddstore.fabric", "org.ddstore.mpi"));
    TransportBackends.all().forEach(backend -> packages.add(backend.getClass().getPackageName()));

    assertThat(names).hasSize(3);
    ArchitectureRules.transportNamesStayInBackends(names, packages).check(ALL);
    ArchitectureRules.noMethodAsksForATransport(names).check(ALL);
  }
}
