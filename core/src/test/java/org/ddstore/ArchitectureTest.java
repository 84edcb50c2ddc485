package org.ddstore;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which package of core may know which; the module poms check the same between modules. */
class ArchitectureTest {

  private static final String OURS = "org.ddstore..";

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("org.ddstore");

  private static final Set<String> VALUES =
      Stream.of(
              DType.class,
              Field.class,
              Schema.class,
              Backing.class,
              ReadPath.class,
              ProcessAddress.class)
          .map(Class::getName)
          .collect(Collectors.toSet());

  /** What every package speaks; they know nothing of the packages below. */
  private static final DescribedPredicate<JavaClass> OUR_VALUE =
      resideInAPackage("org.ddstore")
          .and(JavaClass.Predicates.assignableTo(Throwable.class))
          .or(
              DescribedPredicate.describe(
                  "a value type",
                  type -> VALUES.stream().anyMatch(isOrEncloses(type.getBaseComponentType()))))
          .as("exceptions and value types of org.ddstore");

  private static Predicate<String> isOrEncloses(JavaClass type) {
    return name -> type.getName().equals(name) || type.getName().startsWith(name + "$");
  }

  @ParameterizedTest(name = "{0} knows only: {1}")
  @CsvSource({
    "layout, ''",
    "memory, layout",
    "transport, memory layout",
    "collective, memory layout",
    "sampling, ''",
  })
  void packageKnowsOnly(String name, String allowed) {
    String[] packages =
        Stream.concat(Stream.of(name), Stream.of(allowed.split(" ")))
            .filter(word -> !word.isEmpty())
            .map(word -> "org.ddstore." + word + "..")
            .toArray(String[]::new);

    classes()
        .that()
        .resideInAPackage("org.ddstore." + name + "..")
        .should()
        .onlyDependOnClassesThat(
            DescribedPredicate.not(resideInAPackage(OURS))
                .or(resideInAnyPackage(packages))
                .or(OUR_VALUE))
        .allowEmptyShould(true)
        .check(CORE);
  }

  /** What is behind the interface of a store stays there: a loader reads as any user does. */
  @Test
  void theLoaderReadsAsUsersDo() {
    noClasses()
        .that()
        .resideInAPackage("org.ddstore.loader..")
        .should()
        .dependOnClassesThat(resideInAnyPackage("org.ddstore.transport..", "org.ddstore.layout.."))
        .check(CORE);
    noClasses()
        .that(resideInAPackage("org.ddstore"))
        .should()
        .dependOnClassesThat(resideInAnyPackage("org.ddstore.loader..", "org.ddstore.sampling.."))
        .check(CORE);
  }

  @Test
  void packagesHaveNoCycles() {
    slices()
        .matching("org.ddstore.(layout|memory|transport|collective|sampling|loader)..")
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true)
        .check(CORE);
  }
}
