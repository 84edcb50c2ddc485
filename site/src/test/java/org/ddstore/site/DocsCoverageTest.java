// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.checkpoint.SaveFailure;
import org.ddstore.checkpoint.Saving;
import org.ddstore.formats.FormatOptionKeys;
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
import org.ddstore.spark.wire.ConnectionSettings;
import org.ddstore.types.Backing;
import org.ddstore.types.Internal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages name everything that a user can set, call or catch. */
class DocsCoverageTest {
  /** Generated pages, and the one that tells of former versions. */
  private static final Set<String> NOT_SEARCHED = Set.of("docs/settings.md", "CHANGELOG.md");

  /** Options that all commands have, which the page of commands names at its beginning. */
  private static final Set<String> COMMON = Set.of("--help", "--version");

  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])(--[a-z]+(?:-[a-z]+)*)");

  /** Builders that other pages describe: the first three are those of samplers, as tested here. */
  private static final Set<Class<?>> DESCRIBED_ELSEWHERE =
      Set.of(
          Batching.class,
          ClassBalancedSampler.class,
          CostAwareSampler.class,
          SampleColumn.class); // for a format of one's own

  /** A message with which a script ends, up to the command that installs what it needs. */
  private static final Pattern SCRIPT_MESSAGE =
      Pattern.compile(
          "(?:usage_error (?:\\w+|\"[^\"]*\")|die) \"((?:[^\"\\\\]|\\\\.)+?)(?:\\$\\{sudo}.*|\\$own_jar)?\"(?=$|[ ;)])");

  private static final Pattern METHOD = Pattern.compile("^(\\w+)\\(");

  private static final JavaClasses CLASSES = ArchitectureRules.main("org.ddstore");

  private static Pages pages;
  private static PageCode code;

  @BeforeAll
  static void readPages() throws IOException {
    pages = Pages.read(Path.of(System.getProperty("ddstore.root")));
    code =
        PageCode.of(
            pages.all().stream()
                .filter(page -> !page.isNotebook() && !NOT_SEARCHED.contains(page.path()))
                .toList());
  }

  private static Set<String> found(Pattern pattern, List<String> texts) {
    Set<String> found = new TreeSet<>();
    for (String text : texts) {
      Matcher matcher = pattern.matcher(text);
      while (matcher.find()) {
        found.add(matcher.group(1));
      }
    }
    return found;
  }

  @Test
  void pagesNameEverySetting() {
    assertThat(Arrays.stream(Setting.values()).map(Setting::key))
        .as("settings in code of the pages")
        .isNotEmpty()
        .allMatch(code::names);
  }

  @Test
  void pagesNameEveryOptionKey() throws IllegalAccessException {
    List<String> keys = new ArrayList<>();
    for (Field field : OptionKeys.class.getFields()) {
      keys.add((String) field.get(null));
    }
    assertThat(keys).as("option keys in code of the pages").isNotEmpty().allMatch(code::names);
  }

  /** Spark reads these settings itself, so they are not {@link Setting}s. */
  @Test
  void settingsPageListsTheSettingsOfConnections() {
    Map<String, PageCode> sections =
        PageCode.sections(pages.find("docs/settings.md").orElseThrow());

    assertThat(sections.get("Settings of connections").firstCells())
        .containsExactlyInAnyOrderElementsOf(ConnectionSettings.keys());
  }

  @Test
  void dataPageListsEveryOptionOfAFormat() {
    PageCode page = PageCode.of(List.of(pages.find("docs/data.md").orElseThrow()));
    Set<String> options =
        new TreeSet<>(List.of(FormatOptionKeys.COLUMNS, FormatOptionKeys.PARTITION_BYTES));
    for (SampleFormat format : ServiceLoader.load(SampleFormat.class)) {
      assertThat(page.names(format.name())).as("format " + format.name()).isTrue();
      options.addAll(format.options());
    }

    assertThat(page.firstCells()).as("options of formats in docs/data.md").containsAll(options);
  }

  /** Returns the types that users see. */
  private static Stream<JavaClass> userTypes() {
    List<String> packages = List.of(System.getProperty("ddstore.user.packages").split(",", -1));
    return CLASSES.stream()
        .filter(type -> packages.contains(type.getPackageName()))
        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
        .filter(type -> !type.isAnnotatedWith(Internal.class));
  }

  @Test
  void pagesNameEveryException() {
    List<String> exceptions =
        userTypes()
            .filter(type -> type.isAssignableTo(Throwable.class))
            .map(JavaClass::getSimpleName)
            .toList();

    assertThat(exceptions)
        .as("exceptions in code of the pages")
        .hasSizeGreaterThan(10)
        .allMatch(code::names);
  }

  @ParameterizedTest
  @CsvSource({"ddstore, 40", "native/mpi/build-mpi-jar, 10"})
  void pagesNameEveryMessageOfAScript(Path script, int more) throws IOException {
    String source = Files.readString(Path.of(System.getProperty("ddstore.root")).resolve(script));
    Set<String> messages = found(SCRIPT_MESSAGE, source.lines().toList());

    assertThat(messages)
        .extracting(message -> message.replace("\\\"", "\""))
        .as("messages in code of the pages")
        .hasSizeGreaterThan(more)
        .allMatch(code::names);
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Backing.class,
        DecimalForm.class,
        Distribution.class,
        DumpMode.class,
        SaveFailure.class,
        Saving.class
      })
  void pagesNameEveryValueOfAnOption(Class<? extends Enum<?>> option) {
    assertThat(option.getEnumConstants())
        .extracting(Enum::name)
        .allMatch(name -> code.names(name) || code.names(option.getSimpleName() + "." + name));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Samplers.class,
        Batching.class,
        ClassBalancedSampler.class,
        CostAwareSampler.class
      })
  void pagesNameEveryOptionOfASampler(Class<?> type) {
    assertThat(
            methods(
                CLASSES.get(type),
                method ->
                    method.getRawReturnType().isAssignableTo(BatchSampler.class)
                        || method.getRawReturnType().isAssignableTo(Sampler.class)))
        .isNotEmpty()
        .allMatch(code::names);
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
    Map<String, PageCode> sections = PageCode.sections(pages.find("docs/options.md").orElseThrow());
    List<JavaClass> builders = userTypes().filter(DocsCoverageTest::isBuilder).toList();

    assertThat(builders).as("builders").hasSizeGreaterThan(5);
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
        && DESCRIBED_ELSEWHERE.stream().noneMatch(type::isEquivalentTo)
        && methods(type, returnsItsType().and(takesAValue)).size() > 1;
  }

  @Test
  void commandsPageListsTheOptionsOfEachCommand() throws Exception {
    Page page = pages.find("docs/commands.md").orElseThrow();
    Map<String, PageCode> sections = PageCode.sections(page);
    Map<String, String> helps = ProjectCommands.helps();

    assertThat(helps).containsKeys("demo", "bench read", "example vae", "test", "docs");
    assertThat(sections).containsKeys(helps.keySet().toArray(String[]::new));
    helps.forEach(
        (command, help) -> {
          Set<String> options = found(OPTION, List.of(help));
          options.removeAll(COMMON);
          assertThat(documented(page, sections, command))
              .as("options in docs/commands.md, section " + command)
              .containsExactlyInAnyOrderElementsOf(options);
        });
    assertThat(COMMON).as("options of all commands").allMatch(code::names);
    assertThat(sections).as("commands").containsKey("jmh");
  }

  /** Returns the options that a section lists, itself or by a link to a section of common ones. */
  private static Set<String> documented(Page page, Map<String, PageCode> sections, String command) {
    PageCode section = sections.get(command);
    Set<String> documented = found(OPTION, section.firstCells());
    for (Page.Title title : page.titles()) {
      if (section.links().contains("#" + title.anchor())) {
        documented.addAll(found(OPTION, sections.get(title.text()).firstCells()));
      }
    }
    return documented;
  }
}
