// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.Formats;
import org.ddstore.formats.SampleFormat;
import org.junit.jupiter.api.Test;

/** Every key is used and documented, and every option that a format accepts has a key. */
class FormatOptionKeysTest {
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private static Set<String> keys() throws IllegalAccessException {
    Set<String> keys = new TreeSet<>();
    for (Field field : FormatOptionKeys.class.getFields()) {
      assertThat(keys.add((String) field.get(null))).as("%s is a new key", field).isTrue();
    }
    return keys;
  }

  @Test
  void theOptionsHaveTheirKeys() throws IllegalAccessException {
    Set<String> options = new TreeSet<>(CommonOptions.KEYS);
    for (SampleFormat format : Formats.all()) {
      options.addAll(format.options());
    }
    assertThat(keys()).isEqualTo(options);
  }

  /** Spark sets {@code path} and {@code paths} from the arguments of load, which the page names. */
  @Test
  void thePageListsTheOptions() throws IOException, IllegalAccessException {
    Set<String> named = keys();
    named.removeAll(Set.of(FormatOptionKeys.PATH, FormatOptionKeys.PATHS));
    assertThat(documented()).isEqualTo(named);
  }

  /** Returns the keys in the first columns of the tables of options. */
  private static Set<String> documented() throws IOException {
    Path page = Path.of(System.getProperty("ddstore.root"), "docs", "data.md");
    Set<String> keys = new TreeSet<>();
    boolean isTable = false;
    for (String line : Files.readAllLines(page)) {
      isTable = isTable && line.startsWith("|");
      if (isTable) {
        String cell = line.split("\\|", -1)[1];
        CODE.matcher(cell).results().forEach(key -> keys.add(key.group(1)));
      }
      isTable |= line.startsWith("| option");
    }
    return keys;
  }
}
