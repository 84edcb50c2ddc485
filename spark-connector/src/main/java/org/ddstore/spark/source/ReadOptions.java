package org.ddstore.spark.source;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What is said of a table where it is read.
 *
 * @param name of the store
 * @param indexColumn of a column that holds the global index; null for none
 */
record ReadOptions(String name, String indexColumn) {
  static final String NAME = "name";
  static final String PATH = "path";
  static final String INDEX_COLUMN = "indexColumn";

  private static final List<String> LEGAL = List.of(NAME, PATH, INDEX_COLUMN);

  /**
   * Reads the options of {@code spark.read} or of a view.
   *
   * @throws IllegalArgumentException for an unknown option, or none that names the store
   */
  static ReadOptions of(CaseInsensitiveStringMap options) {
    refuseUnknown(options, LEGAL, "read");
    return new ReadOptions(storeName(options), options.get(INDEX_COLUMN));
  }

  /**
   * Looks at what is said where the table is scanned, which has been looked up by these options
   * before: its own options once more, or those of {@code spark.read().table(..)}.
   *
   * @throws IllegalArgumentException for an unknown option, or one that asks for another table
   */
  void checkScan(CaseInsensitiveStringMap scan) {
    refuseUnknown(scan, LEGAL, "read");
    if ((scan.containsKey(NAME) || scan.containsKey(PATH)) && !storeName(scan).equals(name)) {
      throw new IllegalArgumentException(
          "two stores are named: the table is ddstore.%s, and its options say \"%s\""
              .formatted(name, storeName(scan)));
    }
    String index = scan.get(INDEX_COLUMN);
    if (index != null && !index.equals(indexColumn)) {
      throw new IllegalArgumentException(
          ("option \"indexColumn\" is \"%s\", but ddstore.%s is looked up without options: give it"
                  + " to read().format(\"ddstore\").load(\"%s\") or to a view, or name __index")
              .formatted(index, name, name));
    }
  }

  /** The store that {@code name}, or what is given to {@code load} or {@code save}, names. */
  static String storeName(Map<String, String> options) {
    String name = options.get(NAME);
    String path = options.get(PATH);
    if (name == null && path == null) {
      throw new IllegalArgumentException(
          "no store is named: give option(\"name\", ..), or the name to load(..) or save(..)");
    }
    if (name != null && path != null && !name.equals(path)) {
      throw new IllegalArgumentException(
          "two stores are named: option \"name\" is \"%s\", and load or save was given \"%s\""
              .formatted(name, path));
    }
    return name == null ? path : name;
  }

  /** Spark's own options begin with two underscores. */
  static void refuseUnknown(Map<String, String> options, List<String> legal, String what) {
    for (String key : options.keySet()) {
      if (!key.startsWith("__") && legal.stream().noneMatch(key::equalsIgnoreCase)) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "option \"%s\" of format \"ddstore\" is unknown; to %s there are %s",
                key,
                what,
                legal));
      }
    }
  }
}
