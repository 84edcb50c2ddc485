// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.types.OptionKeys;
import org.junit.jupiter.api.Test;

/** Every key is used and documented, and every option and setting that is used has a key. */
class OptionKeysTest {
  /** The prefix of a setting in a string literal, but not in a comment or a text block. */
  private static final Pattern LITERAL =
      Pattern.compile(
          "^[^*/\n]*\"[^\"\n]*" + Pattern.quote(OptionKeys.SETTING_PREFIX), Pattern.MULTILINE);

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private static Set<String> keys(String prefix) {
    return Arrays.stream(OptionKeys.class.getFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()))
        .filter(field -> field.getName().startsWith("SETTING_") == prefix.equals("SETTING_"))
        .map(OptionKeysTest::value)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String value(Field field) {
    try {
      return (String) field.get(null);
    } catch (IllegalAccessException e) {
      throw new AssertionError(field.getName(), e);
    }
  }

  @Test
  void theSettingsHaveTheirKeys() {
    Set<String> settings = keys("SETTING_");
    settings.remove(OptionKeys.SETTING_PREFIX);
    assertThat(settings)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Setting.values()).map(Setting::key).toList());
  }

  @Test
  void theOptionsHaveTheirKeys() {
    Set<String> options = keys("");
    options.removeAll(Set.of(OptionKeys.FORMAT, OptionKeys.SQL_CATALOG));
    List<String> prefixes = options.stream().filter(key -> key.endsWith(".")).toList();
    prefixes.forEach(
        prefix -> {
          options.remove(prefix);
          options.add(prefix + "<column>");
        });
    assertThat(options)
        .isEqualTo(
            Stream.concat(ReadOptions.LEGAL.stream(), WriteOptions.LEGAL.stream())
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  /**
   * Searches the sources, because the compiler copies the text of a constant into the classes that
   * use it.
   */
  @Test
  void onlyOneClassHasTheTextOfTheKeys() throws IOException {
    List<Path> files;
    try (Stream<Path> all =
        Files.walk(Path.of(System.getProperty("ddstore.root"), "spark-connector/src/main/java"))) {
      files = all.filter(file -> file.toString().endsWith(".java")).toList();
    }
    Set<String> withText = new TreeSet<>();
    for (Path file : files) {
      if (LITERAL.matcher(Files.readString(file)).find()) {
        withText.add(file.getFileName().toString());
      }
    }
    assertThat(withText).containsExactly("OptionKeys.java");
  }

  @Test
  void thePageListsTheOptions() throws IOException {
    assertThat(documented("| read option |")).isEqualTo(withoutPath(ReadOptions.LEGAL));
    assertThat(documented("| write option |")).isEqualTo(withoutPath(WriteOptions.LEGAL));
    assertThat(page())
        .contains("format(\"" + OptionKeys.FORMAT + "\")", OptionKeys.SQL_CATALOG + "=");
  }

  /** Spark sets this option from the argument of load and save, which the page names instead. */
  private static Set<String> withoutPath(List<String> options) {
    Set<String> named = new TreeSet<>(options);
    named.remove(OptionKeys.PATH);
    return named;
  }

  private static String page() throws IOException {
    return Files.readString(Path.of(System.getProperty("ddstore.root"), "docs", "sql.md"));
  }

  /** Returns the keys in the first column of the table that begins with this header. */
  private static Set<String> documented(String header) throws IOException {
    Set<String> keys = new TreeSet<>();
    page()
        .lines()
        .dropWhile(line -> !line.startsWith(header))
        .skip(2)
        .takeWhile(line -> line.startsWith("|"))
        .map(line -> line.split("\\|", -1)[1])
        .map(cell -> cell.replaceFirst("argument of .*", ""))
        .forEach(cell -> CODE.matcher(cell).results().forEach(key -> keys.add(key.group(1))));
    return keys;
  }
}
