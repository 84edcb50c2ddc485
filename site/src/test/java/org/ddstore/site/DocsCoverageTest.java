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
import org.ddstore.ReaderOptions;
import org.ddstore.StoreOptions;
import org.ddstore.architecture.ArchitectureRules;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.SaveFailure;
import org.ddstore.checkpoint.Saving;
import org.ddstore.formats.SampleFormat;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Batching;
import org.ddstore.sampling.ClassBalancedSampler;
import org.ddstore.sampling.CostAwareSampler;
import org.ddstore.sampling.Distribution;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.RestoreSpec;
import org.ddstore.spark.StoreSpec;
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
import org.junit.jupiter.params.provider.ValueSource;

/** The pages name everything that a user can set, call or catch. */
class DocsCoverageTest {
  /** Generated pages, and the one that tells of former versions. */
  private static final Set<String> NOT_SEARCHED = Set.of("docs/settings.md", "CHANGELOG.md");

  /** Options that all commands have, which the page of commands names at its beginning. */
  private static final Set<String> COMMON = Set.of("--help", "--version");

  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])(--[a-z]+(?:-[a-z]+)*)");

  /** A message with which the launcher ends, up to the command that installs what it needs. */
  private static final Pattern LAUNCHER_MESSAGE =
      Pattern.compile(
          "(?:usage_error (?:\\w+|\"[^\"]*\")|die) \"((?:[^\"\\\\]|\\\\.)+?)(?:\\$\\{sudo}.*)?\"(?=$|[ ;)])");

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

  /** Spark reads these settings itself, so they are no {@link Setting}s. */
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
    Set<String> options = new TreeSet<>(List.of("columns", "partitionBytes")); // of all formats
    for (SampleFormat format : ServiceLoader.load(SampleFormat.class)) {
      assertThat(page.names(format.name())).as("format " + format.name()).isTrue();
      options.addAll(format.options());
    }

    assertThat(page.firstCells()).as("options of formats in docs/data.md").containsAll(options);
  }

  @Test
  void pagesNameEveryException() {
    List<String> packages = List.of(System.getProperty("ddstore.user.packages").split(",", -1));
    List<String> exceptions =
        CLASSES.stream()
            .filter(type -> packages.contains(type.getPackageName()))
            .filter(type -> type.isAssignableTo(Throwable.class))
            .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
            .filter(type -> !type.isAnnotatedWith(Internal.class))
            .map(JavaClass::getSimpleName)
            .toList();

    assertThat(exceptions)
        .as("exceptions in code of the pages")
        .hasSizeGreaterThan(10)
        .allMatch(code::names);
  }

  @Test
  void pagesNameEveryMessageOfTheLauncher() throws IOException {
    String launcher = Files.readString(Path.of(System.getProperty("ddstore.root"), "ddstore"));
    Set<String> messages = found(LAUNCHER_MESSAGE, launcher.lines().toList());

    assertThat(messages)
        .extracting(message -> message.replace("\\\"", "\""))
        .as("messages in code of the pages")
        .hasSizeGreaterThan(40)
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
                type,
                method ->
                    method.getRawReturnType().isAssignableTo(BatchSampler.class)
                        || method.getRawReturnType().isAssignableTo(Sampler.class)))
        .isNotEmpty()
        .allMatch(code::names);
  }

  private static Set<String> methods(Class<?> type, Predicate<JavaMethod> which) {
    return CLASSES.get(type).getMethods().stream()
        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
        .filter(method -> !method.isAnnotatedWith(Internal.class))
        .filter(which)
        .map(JavaMethod::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        StoreSpec.class,
        RestoreSpec.class,
        LoaderOptions.class,
        CheckpointOptions.class,
        StoreOptions.class,
        ReaderOptions.class
      })
  void optionsPageListsTheMethodsOfABuilder(Class<?> builder) {
    Set<String> methods =
        methods(builder, method -> method.getRawReturnType().isEquivalentTo(builder));
    Map<String, PageCode> sections = PageCode.sections(pages.find("docs/options.md").orElseThrow());

    assertThat(sections).containsKey(builder.getSimpleName());
    assertThat(found(METHOD, sections.get(builder.getSimpleName()).firstCells()))
        .as("methods in docs/options.md, section " + builder.getSimpleName())
        .containsExactlyInAnyOrderElementsOf(methods);
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
