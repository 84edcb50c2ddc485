// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.types.Internal;

/** Rules that hold for every package of every module; each module checks its own classes. */
public final class ArchitectureRules {
  private static final String OURS = "org.ddstore";

  /** First words of methods that ask a question. */
  private static final Set<String> QUESTIONS = Set.of("is", "has", "uses");

  /**
   * The border of two words in camel case, as in {@code is|Mpi|Transport} and {@code is|MPI|Rank}.
   */
  private static final Pattern WORD_BORDER =
      Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");

  private static final Pattern RDD_OWNERS =
      Pattern.compile("org\\.apache\\.spark\\.(SparkContext|rdd\\..*|api\\.java\\..*)");

  /** Methods of RDDs that return values of tasks. */
  private static final Pattern RDD_JOBS =
      Pattern.compile(
          "collect.*|take.*|first|top|min|max|reduce|fold|(tree)?[aA]ggregate|treeReduce|toLocalIterator|runJob|submitJob");

  private ArchitectureRules() {}

  /** Imports the classes of a package and of those below it, without test and generated classes. */
  public static JavaClasses main(String packageName) {
    return new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .withImportOption(location -> !location.contains("-tests.jar"))
        .withImportOption(location -> !location.contains("/jmh_generated/"))
        .importPackages(packageName);
  }

  /** No package depends on itself by way of others; a package does not contain those below it. */
  public static ArchRule noCycles() {
    return slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass type) {
                return isOurs(type)
                    ? SliceIdentifier.of(type.getPackageName())
                    : SliceIdentifier.ignore();
              }

              @Override
              public String getDescription() {
                return "packages";
              }
            })
        .should()
        .beFreeOfCycles();
  }

  /** Public types that users see mention no internal type, and no type of Scala. */
  public static ArchRule publicSignaturesAreForUsers() {
    return classes()
        .that()
        .resideInAPackage(OURS + "..")
        .should(
            new ArchCondition<>("mention only types that users see") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                if (isForUsers(type)) {
                  mentions(type)
                      .filter(mention -> isInternal(mention.type) || isOfScala(mention.type))
                      .forEach(
                          mention ->
                              events.add(
                                  SimpleConditionEvent.violated(
                                      type,
                                      "%s mentions %s"
                                          .formatted(mention.where, mention.type.getName()))));
                }
              }
            });
  }

  /**
   * No class outside the packages of backends has the name of a transport as a constant, so only a
   * backend can treat one transport in a special way. ArchUnit does not see constants; {@link
   * StringConstants} does.
   *
   * @param names names of transports
   * @param backends packages of the transports
   */
  public static ArchRule transportNamesStayInBackends(Set<String> names, Set<String> backends) {
    return classes()
        .that()
        .resideOutsideOfPackages(backends.toArray(String[]::new))
        .should(
            new ArchCondition<>("hold no name of a transport") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                Set<String> held = new TreeSet<>(StringConstants.of(type));
                held.retainAll(names);
                held.forEach(
                    name ->
                        events.add(
                            SimpleConditionEvent.violated(
                                type,
                                "%s holds the transport name \"%s\""
                                    .formatted(type.getName(), name))));
              }
            });
  }

  /**
   * No method asks for one transport by its name, such as {@code isMpi()}, {@code usesMpi()} or
   * {@code isMpiTransport()}.
   *
   * @param names names of transports
   */
  public static ArchRule noMethodAsksForATransport(Set<String> names) {
    return methods()
        .should(
            new ArchCondition<>("not be named after a transport") {
              @Override
              public void check(JavaMethod method, ConditionEvents events) {
                List<String> words = words(method.getName());
                if (QUESTIONS.contains(words.get(0)) && words.stream().anyMatch(names::contains)) {
                  events.add(
                      SimpleConditionEvent.violated(
                          method, method.getFullName() + " asks for a transport by name"));
                }
              }
            });
  }

  /**
   * No class outside some packages runs a job on an RDD of Spark by itself: its results would
   * depend on the serializer that the user has chosen.
   *
   * @param runners packages of the classes that run such jobs
   */
  public static ArchRule jobsAreRunIn(String... runners) {
    return noClasses()
        .that()
        .resideOutsideOfPackages(runners)
        .should()
        .callMethodWhere(
            describe(
                "run a job on an RDD",
                call ->
                    RDD_OWNERS.matcher(call.getTargetOwner().getName()).matches()
                        && RDD_JOBS.matcher(call.getName()).matches()))
        .allowEmptyShould(true);
  }

  /** Packages that are not marked as internal. */
  public static Set<String> packagesForUsers(JavaClasses classes) {
    return classes.stream()
        .filter(type -> isOurs(type) && !type.getPackage().isAnnotatedWith(Internal.class))
        .map(JavaClass::getPackageName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the words of a name in camel case, in lower case. */
  private static List<String> words(String name) {
    return Stream.of(WORD_BORDER.split(name, 0))
        .map(word -> word.toLowerCase(Locale.ROOT))
        .toList();
  }

  /** Packages that have classes. */
  public static Set<String> packages(JavaClasses classes) {
    return classes.stream()
        .filter(type -> !type.getSimpleName().equals("package-info"))
        .map(JavaClass::getPackageName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isOurs(JavaClass type) {
    return type.getPackageName().equals(OURS) || type.getPackageName().startsWith(OURS + ".");
  }

  private static boolean isForUsers(JavaClass type) {
    return isOurs(type) && isPublic(type) && !isInternal(type);
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(ArchitectureRules::isPublic).orElse(true);
  }

  private static boolean isInternal(JavaClass type) {
    return isOurs(type)
        && (type.isAnnotatedWith(Internal.class)
            || type.getPackage().isAnnotatedWith(Internal.class)
            || type.getEnclosingClass().map(ArchitectureRules::isInternal).orElse(false));
  }

  private static boolean isOfScala(JavaClass type) {
    return type.getName().startsWith("scala.");
  }

  private record Mention(String where, JavaClass type) {}

  /** Types of the public and protected members of a type, its supertypes and type parameters. */
  private static Stream<Mention> mentions(JavaClass type) {
    List<Mention> all = new ArrayList<>();
    Stream.of(
            type.getSuperclass().stream(),
            type.getInterfaces().stream(),
            type.getTypeParameters().stream())
        .flatMap(types -> types)
        .flatMap(involved -> ((JavaType) involved).getAllInvolvedRawTypes().stream())
        .filter(involved -> !involved.equals(type))
        .forEach(involved -> all.add(new Mention(type.getName(), involved)));
    for (JavaMember member : type.getMembers()) {
      if (isVisible(member)) {
        member.getAllInvolvedRawTypes().stream()
            .filter(involved -> !involved.equals(type))
            .forEach(involved -> all.add(new Mention(member.getFullName(), involved)));
        if (member instanceof JavaCodeUnit unit) {
          unit.getExceptionTypes()
              .forEach(thrown -> all.add(new Mention(member.getFullName(), thrown)));
        }
      }
    }
    return all.stream()
        .map(mention -> new Mention(mention.where, mention.type.getBaseComponentType()))
        .distinct();
  }

  private static boolean isVisible(JavaMember member) {
    if (member.isAnnotatedWith(Internal.class)) {
      return false;
    }
    Set<JavaModifier> modifiers = member.getModifiers();
    boolean isBridge = modifiers.contains(JavaModifier.SYNTHETIC) && !(member instanceof JavaField);
    return !isBridge
        && (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED));
  }
}
