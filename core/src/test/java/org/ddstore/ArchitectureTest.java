package org.ddstore;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.stream.Stream;
import org.ddstore.architecture.ArchitectureRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which package of core may know which; the module poms check the same between modules. */
class ArchitectureTest {
  private static final JavaClasses CORE = ArchitectureRules.main("org.ddstore");

  @ParameterizedTest(name = "{0} knows only: {1}")
  @CsvSource({
    "types, ''",
    "layout, types",
    "sampling, types",
    "memory, types",
    "transport, types memory",
    "collective, types memory layout",
    "read, types layout memory transport",
    "'', types layout memory transport read collective",
    "loader, types memory collective sampling ''",
  })
  void packageKnowsOnly(String name, String allowed) {
    String[] packages =
        Stream.concat(Stream.of(name), Stream.of(allowed.split(" ")))
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
        .check(CORE);
  }

  @Test
  void packagesHaveNoCycles() {
    ArchitectureRules.noCycles().check(CORE);
  }

  @Test
  void usersSeeNoInternalTypes() {
    ArchitectureRules.publicSignaturesAreForUsers().check(CORE);
  }

  @Test
  void packagesAreOfOneJob() {
    assertThat(ArchitectureRules.sizes(CORE))
        .allSatisfy(
            (name, size) ->
                assertThat(size).as(name).isLessThanOrEqualTo(ArchitectureRules.MAX_CLASSES));
  }
}
