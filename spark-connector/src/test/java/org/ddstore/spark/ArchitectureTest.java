// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.ddstore.architecture.ArchitectureContract;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.architecture.sample.RddCollection;
import org.ddstore.architecture.sample.ScalaLeak;
import org.ddstore.spark.backend.TransportBackends;
import org.junit.jupiter.api.Test;

/** Packages of core, native and the connector together. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.transport", "org.ddstore.fabric", "org.ddstore.spark.job");
  }

  @Test
  void findsTypesOfScalaInPublicSignatures() {
    JavaClasses leaking = new ClassFileImporter().importClasses(ScalaLeak.class);

    assertThatThrownBy(() -> ArchitectureRules.publicSignaturesAreForUsers().check(leaking))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ScalaLeak.returned() mentions scala.Option")
        .hasMessageContaining("ScalaLeak.taken(java.util.List) mentions scala.Tuple2");
  }

  @Test
  void findsJobsOnRdds() {
    JavaClasses collecting = new ClassFileImporter().importClasses(RddCollection.class);

    assertThatThrownBy(
            () -> ArchitectureRules.jobsAreRunIn("org.ddstore.spark.task").check(collecting))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("RddCollection.collected(");
  }

  @Test
  void transportsAreOnTheClassPath() {
    assertThat(TransportBackends.all()).isNotEmpty();
  }
}
