// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.base.DescribedPredicate;
import java.util.stream.Stream;
import org.ddstore.architecture.ArchitectureContract;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The allowed dependencies between packages of core; the module poms check those between modules.
 */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore", "org.ddstore.transport");
  }

  @ParameterizedTest(name = "{0} knows only: {1}")
  @CsvSource({
    "types, ''",
    "layout, types",
    "sampling, types layout",
    "memory, types",
    "transport, types memory",
    "collective, types memory layout",
    "read, types layout memory transport",
    "'', types layout memory transport read collective",
    "checkpoint, types collective sampling",
    "loader, types memory collective sampling checkpoint ''",
    "device, types sampling memory loader ''",
  })
  void packageKnowsOnly(String name, String allowed) {
    String[] packages =
        Stream.concat(
                Stream.of(name), Stream.of(allowed.split(" ")).filter(word -> !word.isEmpty()))
            .map(
                word -> word.isEmpty() || word.equals("''") ? "org.ddstore" : "org.ddstore." + word)
            .toArray(String[]::new);

    classes()
        .that()
        .resideInAPackage(name.isEmpty() ? "org.ddstore" : "org.ddstore." + name)
        .should()
        .onlyDependOnClassesThat(
            DescribedPredicate.not(resideInAPackage("org.ddstore.."))
                .or(resideInAnyPackage(packages)))
        .check(ALL);
  }
}
