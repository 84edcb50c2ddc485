// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.ingest.Wording;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.types.Backing;

/**
 * The options of a write, which determine how a DataFrame becomes a store. Keys are
 * case-insensitive, as Spark requires.
 */
final class WriteOptions {
  static final List<String> LEGAL =
      List.of(
          OptionKeys.NAME,
          OptionKeys.PATH,
          OptionKeys.RANKS,
          OptionKeys.WIDTH,
          OptionKeys.TRANSPORT,
          OptionKeys.ORDER_BY,
          OptionKeys.SHUFFLE,
          OptionKeys.COLUMNS,
          OptionKeys.BACKING,
          OptionKeys.DIRECTORY,
          OptionKeys.DECIMALS,
          OptionKeys.TYPE_PREFIX + ColumnOptions.COLUMN,
          OptionKeys.FILL_NULLS_PREFIX + ColumnOptions.COLUMN,
          OptionKeys.PAD_PREFIX + ColumnOptions.COLUMN,
          OptionKeys.TRUNCATE_PREFIX + ColumnOptions.COLUMN,
          OptionKeys.DECIMALS_PREFIX + ColumnOptions.COLUMN);

  private final Map<String, String> options = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  /**
   * Copies options and checks their keys; {@link #spec} checks the values.
   *
   * @throws IllegalArgumentException if an option is unknown
   */
  WriteOptions(Map<String, String> given) {
    Map<String, String> named = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    given.forEach(
        (key, value) -> {
          options.put(key, value);
          named.put(
              ColumnOptions.prefix(key).map(p -> p + ColumnOptions.COLUMN).orElse(key), value);
        });
    ReadOptions.refuseUnknown(named, LEGAL, "write");
  }

  String storeName() {
    return ReadOptions.storeName(options);
  }

  /**
   * Returns the spec described by the options.
   *
   * @throws IllegalArgumentException if a value is illegal
   */
  StoreSpec spec(Dataset<Row> rows) {
    StoreSpec spec = DDStores.from(rows).wording(Wording.OPTIONS);
    ColumnOptions columns = new ColumnOptions(rows);
    for (Map.Entry<String, String> option : options.entrySet()) {
      String key = option.getKey();
      String value = option.getValue();
      spec =
          ColumnOptions.prefix(key).isPresent()
              ? columns.apply(spec, key, value)
              : apply(spec, key, value.strip());
    }
    return spec;
  }

  private StoreSpec apply(StoreSpec spec, String key, String value) {
    return switch (canonical(key)) {
      case OptionKeys.RANKS -> spec.ranks(ranks(key, value));
      case OptionKeys.WIDTH -> spec.width(ranks(key, value));
      case OptionKeys.SHUFFLE -> spec.shuffle(ReadOptions.integer(key, value));
      case OptionKeys.TRANSPORT -> spec.transport(value);
      case OptionKeys.ORDER_BY -> spec.orderBy(names(value));
      case OptionKeys.COLUMNS -> spec.columns(names(value));
      case OptionKeys.BACKING -> spec.backing(backing(value));
      case OptionKeys.DIRECTORY -> inFiles(spec, value);
      case OptionKeys.DECIMALS -> spec.decimals(ColumnOptions.form(key, value));
      default -> spec;
    };
  }

  private static String canonical(String key) {
    return LEGAL.stream().filter(key::equalsIgnoreCase).findFirst().orElse(key);
  }

  private static String[] names(String list) {
    return list.split("\\s*,\\s*");
  }

  private static int ranks(String key, String value) {
    long ranks = ReadOptions.integer(key, value);
    if (ranks < 1 || ranks > StoreSpec.MAX_RANKS) {
      throw new IllegalArgumentException(
          "option \"%s\" is %s, outside [1, %,d]".formatted(key, value, StoreSpec.MAX_RANKS));
    }
    return (int) ranks;
  }

  private static Backing backing(String value) {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "shm" -> Backing.SHM;
      case "direct" -> Backing.DIRECT;
      case "file" -> Backing.FILE;
      default ->
          throw new IllegalArgumentException(
              "option \"%s\" is \"%s\"; legal values: shm, direct, file"
                  .formatted(OptionKeys.BACKING, value));
    };
  }

  private StoreSpec inFiles(StoreSpec spec, String directory) {
    String backing = options.getOrDefault(OptionKeys.BACKING, "").strip();
    if (!backing.equalsIgnoreCase("file")) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\", but \"%s\" is %s: set \"%s\" to \"file\""
              .formatted(
                  OptionKeys.DIRECTORY,
                  directory,
                  OptionKeys.BACKING,
                  backing.isEmpty() ? "not set" : "\"" + backing + "\"",
                  OptionKeys.BACKING));
    }
    return spec.files(Path.of(directory));
  }

  boolean isPlain() {
    return options.keySet().stream()
        .allMatch(
            key ->
                key.startsWith("__")
                    || key.equalsIgnoreCase(OptionKeys.NAME)
                    || key.equalsIgnoreCase(OptionKeys.PATH));
  }
}
