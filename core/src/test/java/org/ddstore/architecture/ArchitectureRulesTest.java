// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules find what they are for, in packages made for that. */
class ArchitectureRulesTest {
  private static final String SAMPLE = "org.ddstore.architecture.sample";

  private static JavaClasses sample(String name) {
    return new ClassFileImporter().importPackages(SAMPLE + "." + name);
  }

  @Test
  void detectsACycleOfTwoPackages() {
    assertThatThrownBy(() -> ArchitectureRules.noCycles().check(sample("ring")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Cycle detected")
        .hasMessageContaining("ring.left")
        .hasMessageContaining("ring.right");
    assertThatCode(() -> ArchitectureRules.noCycles().check(sample("floors")))
        .doesNotThrowAnyException();
  }

  @Test
  void findsInternalTypesInPublicSignatures() {
    assertThatThrownBy(() -> ArchitectureRules.publicSignaturesAreForUsers().check(sample("leak")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Leaking.returned() mentions " + SAMPLE + ".leak.hidden.Hidden")
        .hasMessageContaining("Leaking.taken(")
        .hasMessageContaining("Leaking.listed() mentions")
        .hasMessageContaining(SAMPLE + ".leak.api.LeakingHead mentions " + SAMPLE)
        .hasMessageContaining(SAMPLE + ".leak.api.LeakingBound mentions " + SAMPLE)
        .hasMessageNotContaining("ofNoUser")
        .hasMessageNotContaining("marked");
    assertThatCode(() -> ArchitectureRules.publicSignaturesAreForUsers().check(sample("floors")))
        .doesNotThrowAnyException();
  }

  @Test
  void namesOfTransportsOutsideTheirBackendsAreFound() {
    Set<String> names = Set.of("pigeon");
    Set<String> backends = Set.of(SAMPLE + ".names.backend");
    JavaClasses classes = sample("names");

    assertThatThrownBy(
            () -> ArchitectureRules.transportNamesStayInBackends(names, backends).check(classes))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("names.user.Asking holds the transport name \"pigeon\"")
        .hasMessageContaining("names.user.Listing holds the transport name \"pigeon\"")
        .hasMessageNotContaining("names.user.Unaware")
        .hasMessageNotContaining("names.backend.Pigeon");
    assertThatThrownBy(() -> ArchitectureRules.noMethodAsksForATransport(names).check(classes))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Asking.isPigeon()")
        .hasMessageContaining("Asking.isPigeonTransport()")
        .hasMessageContaining("Asking.usesPigeon()")
        .hasMessageContaining("Asking.hasOnlyPIGEONTransports()")
        .hasMessageNotContaining("Unaware");
  }
}
