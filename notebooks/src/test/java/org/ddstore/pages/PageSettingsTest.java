// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.Network$;
import org.apache.spark.internal.config.UI$;
import org.apache.spark.internal.config.package$;
import org.apache.spark.sql.catalyst.csv.CSVOptions$;
import org.apache.spark.sql.internal.SQLConf$;
import org.ddstore.formats.SampleFormat;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.ConnectionSettings;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The settings and options in the code of all pages exist, and their values are legal. */
class PageSettingsTest {
  /** Its entries tell of former versions. */
  private static final String CHANGE_LOG = "CHANGELOG.md";

  /** Beginnings of settings of Spark, whose ends the user chooses. */
  private static final List<String> OPEN_KEYS =
      List.of(
          "spark.executorEnv.",
          "spark.kubernetes.driver.label.",
          "spark.kubernetes.driver.secrets.",
          "spark.kubernetes.executor.label.",
          "spark.kubernetes.executor.secrets.",
          "spark.kubernetes.executor.volumes.emptyDir.",
          "spark.metrics.conf.");

  /**
   * Settings that Spark's modules for Connect, Kubernetes and YARN declare, which are not on the
   * class path of this test, or that Spark reads without a declaration.
   */
  private static final Set<String> UNDECLARED =
      Set.of(
          "spark.connect.authenticate.token",
          "spark.connect.execute.manager.detachedTimeout",
          "spark.connect.execute.reattachable.senderMaxStreamDuration",
          "spark.connect.grpc.binding.address",
          "spark.kubernetes.authenticate.driver.serviceAccountName",
          "spark.kubernetes.container.image",
          "spark.kubernetes.executor.podTemplateFile",
          "spark.kubernetes.namespace",
          "spark.port.maxRetries",
          "spark.remote",
          "spark.repl.class.outputDir",
          "spark.repl.class.uri",
          "spark.ssl.rpc.enabled",
          "spark.task.resource.gpu.amount",
          "spark.yarn.archive",
          "spark.yarn.exclude.nodes",
          "spark.yarn.executor.nodeLabelExpression",
          "spark.yarn.jars",
          "spark.yarn.maxAppAttempts");

  /** Methods of a session, a package, a file and a property of Maven. */
  private static final Set<String> NO_SETTINGS =
      Set.of("spark.conf", "spark.conf.set", "spark.table", "spark.types", "spark.version");

  private static final Pattern OUR_KEY = Pattern.compile("spark\\.ddstore\\.[\\w.]*");
  private static final Pattern OPTION =
      Pattern.compile("\\boption\\(\"([^\"]+)\", *(\"?)([^\")]*)\\2\\)");

  /** The clause of SQL, and an option in it. */
  private static final Pattern OPTIONS = Pattern.compile("\\bOPTIONS \\(([^)]+)\\)");

  private static final Pattern SQL_OPTION =
      Pattern.compile("(?<=^|,)\\s*`?([\\w.]+)`? '?([^']*?)'?\\s*(?=,\\s*`?[a-zA-Z.]+`? |$)");

  private static List<Page> pages;

  @BeforeAll
  static void readPages() throws IOException {
    pages = Page.all().stream().filter(page -> !page.path().equals(CHANGE_LOG)).toList();
    assertThat(package$.MODULE$).as("settings of Spark").isNotNull();
    assertThat(Network$.MODULE$).as("settings of Spark's network").isNotNull();
    assertThat(UI$.MODULE$).as("settings of Spark's pages").isNotNull();
    assertThat(SQLConf$.MODULE$).as("settings of Spark SQL").isNotNull();
  }

  private static List<PageSetting> settings() throws IOException {
    List<PageSetting> settings = new ArrayList<>();
    for (Page page : pages) {
      for (Page.Block block : page.blocks()) {
        settings.addAll(PageSetting.of(block));
      }
      for (String code : page.code()) {
        PageSetting.ofSentence(page.path(), code)
            .filter(setting -> !NO_SETTINGS.contains(setting.key()))
            .ifPresent(settings::add);
      }
    }
    return settings;
  }

  private static Optional<Setting> ours(String key) {
    return Arrays.stream(Setting.values()).filter(each -> each.key().equals(key)).findAny();
  }

  private static boolean isKnown(String key) {
    return ours(key).isPresent()
        || ConnectionSettings.keys().contains(key)
        || key.equals(OptionKeys.SQL_CATALOG)
        || ConfigEntry.findEntry(key) != null
        || UNDECLARED.contains(key)
        || OPEN_KEYS.stream().anyMatch(key::startsWith);
  }

  /**
   * Checks a value as the program and Spark do.
   *
   * @throws IllegalArgumentException if it is illegal
   */
  private static void check(String key, String value) {
    ours(key).ifPresent(setting -> setting.checked(value));
    for (ConnectionSettings.Wrong wrong :
        ConnectionSettings.wrong(new SparkConf(false).set(key, value))) {
      throw new IllegalArgumentException("legal: " + wrong.range());
    }
    ConfigEntry<?> sparks = ConfigEntry.findEntry(key);
    if (sparks != null) {
      sparks.valueConverter().apply(value);
    }
  }

  @Test
  void everySettingIsKnownAndItsValueLegal() throws IOException {
    List<String> problems = new ArrayList<>();
    for (PageSetting setting : settings()) {
      if (!isKnown(setting.key())) {
        problems.add("%s: unknown setting".formatted(setting));
      } else if (setting.value().isPresent()) {
        try {
          check(setting.key(), setting.value().orElseThrow());
        } catch (IllegalArgumentException e) {
          problems.add("%s: %s".formatted(setting, e.getMessage()));
        }
      }
    }
    assertThat(settings()).isNotEmpty();
    assertThat(problems).isEmpty();
  }

  /** Also those within a longer code, such as a message, and prefixes of keys. */
  @Test
  void everyMentionOfOurSettingsIsOfAKnownOne() {
    List<String> known =
        Stream.concat(
                Arrays.stream(Setting.values()).map(Setting::key),
                ConnectionSettings.keys().stream())
            .toList();
    List<String> problems = new ArrayList<>();
    for (Page page : pages) {
      for (MatchResult mention : page.find(OUR_KEY)) {
        String key = mention.group();
        boolean isPrefix = key.endsWith(".");
        if (isPrefix
            ? known.stream().noneMatch(each -> each.startsWith(key))
            : !known.contains(key)) {
          problems.add("%s: unknown setting \"%s\"".formatted(page, key));
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /** Returns the options of format("ddstore"); those of columns end with a dot. */
  static Set<String> optionKeys() throws IllegalAccessException {
    Set<String> options = new TreeSet<>();
    for (var field : OptionKeys.class.getFields()) {
      String key = (String) field.get(null);
      if (!key.startsWith("spark.") && !key.equals(OptionKeys.FORMAT)) {
        options.add(key);
      }
    }
    return options;
  }

  /** Returns the options of the formats of files. */
  static Set<String> formatOptions() {
    Set<String> options = new TreeSet<>(Set.of("columns", "partitionBytes")); // of all formats
    ServiceLoader.load(SampleFormat.class).forEach(format -> options.addAll(format.options()));
    return options;
  }

  @Test
  void everyOptionIsKnown() throws IllegalAccessException {
    Set<String> known = optionKeys();
    known.addAll(formatOptions());
    List<String> problems = new ArrayList<>();
    for (Page page : pages) {
      for (Map.Entry<String, String> option : options(page)) {
        String key = option.getKey();
        boolean isOfColumn =
            known.stream().anyMatch(each -> each.endsWith(".") && key.startsWith(each));
        if (!known.contains(key) && !isOfColumn && !CSVOptions$.MODULE$.isValidOption(key)) {
          problems.add("%s: unknown option \"%s\"".formatted(page, key));
        }
        try {
          check(OptionKeys.SETTING_PREFIX + key, option.getValue());
        } catch (IllegalArgumentException e) {
          problems.add("%s: option \"%s\": %s".formatted(page, key, e.getMessage()));
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /** Returns the options, with their values, in calls and in SQL. */
  private static List<Map.Entry<String, String>> options(Page page) {
    List<Map.Entry<String, String>> options = new ArrayList<>();
    for (MatchResult call : page.find(OPTION)) {
      if (!call.group(1).contains("%")) { // of a message
        options.add(Map.entry(call.group(1), call.group(3)));
      }
    }
    for (MatchResult clause : page.find(OPTIONS)) {
      SQL_OPTION
          .matcher(clause.group(1))
          .results()
          .map(option -> Map.entry(option.group(1), option.group(2)))
          .forEach(options::add);
    }
    return options;
  }
}
