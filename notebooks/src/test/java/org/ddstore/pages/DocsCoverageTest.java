// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.checkpoint.SaveFailure;
import org.ddstore.checkpoint.Saving;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Batching;
import org.ddstore.sampling.ClassBalancedSampler;
import org.ddstore.sampling.CostAwareSampler;
import org.ddstore.sampling.Distribution;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.ConnectionSettings;
import org.ddstore.types.Backing;
import org.ddstore.types.Internal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The reference pages name everything that a user can set. */
class DocsCoverageTest {
  /** Generated pages, and the one that tells of former versions. */
  private static final Set<String> NOT_SEARCHED = Set.of("docs/settings.md", "CHANGELOG.md");

  /** Options that all commands have, which the page of commands names at its beginning. */
  private static final Set<String> COMMON = Set.of("--help", "--version");

  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])(--[a-z]+(?:-[a-z]+)*)");

  /** Samplers, whose options can be in any page. */
  private static final Set<Class<?>> SAMPLERS =
      Set.of(Samplers.class, Batching.class, ClassBalancedSampler.class, CostAwareSampler.class);

  private static final Set<Class<? extends Enum<?>>> VALUES =
      Set.of(
          Backing.class,
          DecimalForm.class,
          Distribution.class,
          DumpMode.class,
          SaveFailure.class,
          Saving.class);

  private static final Pattern METHOD = Pattern.compile("^(\\w+)\\(");

  private static final JavaClasses CLASSES = ArchitectureRules.main("org.ddstore");

  private static Map<String, Page> pages;
  private static List<String> code;

  @BeforeAll
  static void readPages() throws IOException {
    pages = Page.all().stream().collect(Collectors.toMap(Page::path, page -> page));
    code =
        pages.values().stream()
            .filter(page -> !NOT_SEARCHED.contains(page.path()))
            .flatMap(page -> page.code().stream())
            .toList();
  }

  private static Map<String, PageCode> sections(String path) {
    return pages.get(path).sections();
  }

  private static Set<String> found(Pattern pattern, List<String> texts) {
    return texts.stream()
        .flatMap(text -> pattern.matcher(text).results())
        .map(match -> match.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns whether the code of the pages contains a name that is not a part of a longer one. */
  private static boolean isNamed(String name) {
    String end = name.endsWith(".") ? "" : "(?!\\w)";
    Pattern pattern = Pattern.compile("(?<![\\w.])" + Pattern.quote(name) + end);
    return code.stream().anyMatch(text -> pattern.matcher(text).find());
  }

  @Test
  void pagesNameEverySettingAndOption() throws IllegalAccessException {
    List<String> names = new ArrayList<>(COMMON);
    Arrays.stream(Setting.values()).map(Setting::key).forEach(names::add);
    for (Field field : OptionKeys.class.getFields()) {
      names.add((String) field.get(null));
    }
    for (Class<?> sampler : SAMPLERS) {
      names.addAll(
          methods(
              CLASSES.get(sampler),
              method ->
                  method.getRawReturnType().isAssignableTo(BatchSampler.class)
                      || method.getRawReturnType().isAssignableTo(Sampler.class)));
    }

    assertThat(names).as("names in code of the pages").allMatch(DocsCoverageTest::isNamed);
  }

  @Test
  void pagesNameEveryValueOfAnOption() {
    for (Class<? extends Enum<?>> option : VALUES) {
      assertThat(option.getEnumConstants())
          .extracting(Enum::name)
          .allMatch(name -> isNamed(name) || isNamed(option.getSimpleName() + "." + name));
    }
  }

  /** Spark reads these settings itself, so they are not {@link Setting}s. */
  @Test
  void settingsPageListsTheSettingsOfConnections() {
    assertThat(sections("docs/settings.md").get("Settings of connections").firstCells())
        .containsExactlyInAnyOrderElementsOf(ConnectionSettings.keys());
  }

  @Test
  void dataPageListsEveryFormatAndItsOptions() {
    String page = String.join("\n", pages.get("docs/data.md").code());
    assertThat(ServiceLoader.load(SampleFormat.class))
        .allSatisfy(format -> assertThat(page).contains(format.name()));
    assertThat(sections("docs/data.md").values())
        .flatExtracting(PageCode::firstCells)
        .containsAll(PageSettingsTest.formatOptions());
  }

  @Test
  void sqlPageListsTheOptionsOfStores() throws IllegalAccessException {
    Set<String> options = new TreeSet<>();
    for (String key : PageSettingsTest.optionKeys()) {
      options.add(key.endsWith(".") ? key + "<column>" : key);
    }
    options.remove(OptionKeys.PATH); // Spark's name of the argument of these two
    options.addAll(Set.of("load", "save"));

    assertThat(new TreeSet<>(sections("docs/sql.md").get("Options").firstCells()))
        .isEqualTo(options);
  }

  /** Returns the types that users see. */
  private static Stream<JavaClass> userTypes() {
    List<String> packages = List.of(System.getProperty("ddstore.user.packages").split(",", -1));
    return CLASSES.stream()
        .filter(type -> packages.contains(type.getPackageName()))
        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
        .filter(type -> !type.isAnnotatedWith(Internal.class));
  }

  private static Set<String> methods(JavaClass type, Predicate<JavaMethod> which) {
    return type.getMethods().stream()
        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
        .filter(method -> !method.isAnnotatedWith(Internal.class))
        .filter(which)
        .map(JavaMethod::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void optionsPageListsTheMethodsOfEachBuilder() {
    Map<String, PageCode> sections = sections("docs/options.md");
    List<JavaClass> builders = userTypes().filter(DocsCoverageTest::isBuilder).toList();

    assertThat(builders).as("builders").isNotEmpty();
    for (JavaClass builder : builders) {
      String name = builder.getSimpleName();
      assertThat(sections).as("sections of docs/options.md").containsKey(name);
      assertThat(found(METHOD, sections.get(name).firstCells()))
          .as("methods in docs/options.md, section " + name)
          .containsExactlyInAnyOrderElementsOf(methods(builder, returnsItsType()));
    }
  }

  private static Predicate<JavaMethod> returnsItsType() {
    return method -> method.getRawReturnType().equals(method.getOwner());
  }

  /** Returns whether a class has several methods that take a value and return a copy with it. */
  private static boolean isBuilder(JavaClass type) {
    Predicate<JavaMethod> takesAValue =
        method ->
            !method.getModifiers().contains(JavaModifier.STATIC)
                && !method.getRawParameterTypes().isEmpty()
                && !method.getRawParameterTypes().contains(type);
    return !type.isInterface()
        && SAMPLERS.stream().noneMatch(type::isEquivalentTo)
        && !type.isEquivalentTo(SampleColumn.class) // for a format of one's own
        && methods(type, returnsItsType().and(takesAValue)).size() > 1;
  }

  @Test
  void commandsPageListsTheOptionsOfEachCommand() throws Exception {
    Map<String, PageCode> sections = sections("docs/commands.md");
    Map<String, String> helps = ProjectCommands.helps();

    assertThat(helps).containsKeys("demo", "bench read", "example vae", "test", "docs");
    assertThat(sections).containsKeys(helps.keySet().toArray(String[]::new));
    helps.forEach(
        (command, help) -> {
          Set<String> options = found(OPTION, List.of(help));
          options.removeAll(COMMON);
          assertThat(documented(sections, command))
              .as("options in docs/commands.md, section " + command)
              .containsExactlyInAnyOrderElementsOf(options);
        });
    assertThat(sections).as("commands").containsKey("jmh");
  }

  /** Returns the options that a section lists, itself or by a link to a section of common ones. */
  private static Set<String> documented(Map<String, PageCode> sections, String command) {
    Set<String> documented = found(OPTION, sections.get(command).firstCells());
    sections.forEach(
        (title, section) -> {
          String anchor = "#" + title.toLowerCase(Locale.ROOT).replace(' ', '-');
          if (sections.get(command).links().contains(anchor)) {
            documented.addAll(found(OPTION, section.firstCells()));
          }
        });
    return documented;
  }
}
