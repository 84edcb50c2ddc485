// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.spark.types.OptionKeys;

/**
 * The options of a read.
 *
 * @param indexColumn name of the column with the global index; null for none
 */
record ReadOptions(String name, String indexColumn) {
  static final List<String> LEGAL =
      List.of(
          OptionKeys.NAME,
          OptionKeys.PATH,
          OptionKeys.INDEX_COLUMN,
          OptionKeys.SAMPLE,
          OptionKeys.SAMPLE_SEED);

  /**
   * Reads the options of {@code spark.read} or of a view.
   *
   * @throws IllegalArgumentException if an option is unknown or no option names the store
   */
  static ReadOptions of(CaseInsensitiveStringMap options) {
    refuseUnknown(options, LEGAL, "read");
    return new ReadOptions(storeName(options), options.get(OptionKeys.INDEX_COLUMN));
  }

  /**
   * Checks the options of a scan of the table that was looked up by these options: the same options
   * again, or those of {@code spark.read().table(..)}.
   *
   * @throws IllegalArgumentException if an option is unknown or requests another table
   */
  void checkScan(CaseInsensitiveStringMap scan) {
    refuseUnknown(scan, LEGAL, "read");
    if ((scan.containsKey(OptionKeys.NAME) || scan.containsKey(OptionKeys.PATH))
        && !storeName(scan).equals(name)) {
      throw new IllegalArgumentException(
          "conflicting store names: the table is ddstore.%s, but its options name \"%s\""
              .formatted(name, storeName(scan)));
    }
    String index = scan.get(OptionKeys.INDEX_COLUMN);
    if (index != null && !index.equals(indexColumn)) {
      throw new IllegalArgumentException(
          ("option \"%s\" is \"%s\", but ddstore.%s is looked up without options: pass it"
                  + " to read().format(\"ddstore\").load(\"%s\") or to a view, or use __index")
              .formatted(OptionKeys.INDEX_COLUMN, index, name, name));
    }
  }

  /** Returns the name of the store, from option {@code name} or the argument of load or save. */
  static String storeName(Map<String, String> options) {
    String name = options.get(OptionKeys.NAME);
    String path = options.get(OptionKeys.PATH);
    if (name == null && path == null) {
      throw new IllegalArgumentException(
          "no store name: set option(\"%s\", ..), or pass the name to load(..) or save(..)"
              .formatted(OptionKeys.NAME));
    }
    if (name != null && path != null && !name.equals(path)) {
      throw new IllegalArgumentException(
          "conflicting store names: option \"%s\" is \"%s\", but load or save has \"%s\""
              .formatted(OptionKeys.NAME, name, path));
    }
    return name == null ? path : name;
  }

  /**
   * Parses the value of an option.
   *
   * @throws IllegalArgumentException if the value is not an integer
   */
  static long integer(String key, String value) {
    try {
      return Long.parseLong(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\", not an integer".formatted(key, value), e);
    }
  }

  /** Rejects unknown options, except Spark's own, which begin with two underscores. */
  static void refuseUnknown(Map<String, String> options, List<String> legal, String access) {
    for (String key : options.keySet()) {
      if (!key.startsWith("__") && legal.stream().noneMatch(key::equalsIgnoreCase)) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "option \"%s\" of format \"ddstore\" is unknown; options of a %s are %s",
                key,
                access,
                legal));
      }
    }
  }
}
