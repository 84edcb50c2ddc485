// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.SampleFormat;

/** The options that all formats have, and those of the format. */
record CommonOptions(
    FormatOptions options, List<String> paths, List<String> columns, long partitionBytes) {
  /** Keys of the options that all formats have. */
  static final List<String> KEYS =
      List.of(
          FormatOptionKeys.PATH,
          FormatOptionKeys.PATHS,
          FormatOptionKeys.COLUMNS,
          FormatOptionKeys.PARTITION_BYTES);

  /** Spark's prefix of the options among the properties of a table. */
  private static final String OPTION_PREFIX = TableCatalog.OPTION_PREFIX;

  private static final long DEFAULT_PARTITION_BYTES = 32 << 20;
  private static final long MIN_PARTITION_BYTES = 1 << 10;
  private static final long MAX_PARTITION_BYTES = 1 << 30;

  static CommonOptions of(SampleFormat format, CaseInsensitiveStringMap given) {
    Map<String, String> values = new HashMap<>(given.asCaseSensitiveMap());
    values.keySet().removeIf(key -> key.startsWith("__")); // internal keys of Spark
    Set<String> legal = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    legal.addAll(format.options());
    legal.addAll(KEYS);
    if (given.containsKey(TableCatalog.PROP_OWNER)) {
      keepOptions(values, given, legal);
    }
    FormatOptions options = new FormatOptions(values);
    options.requireKeys("format \"%s\"".formatted(format.name()), legal);
    List<String> paths = paths(options);
    if (paths.isEmpty()) {
      throw new IllegalArgumentException(
          "format \"%s\": no path: pass one to load(..), or as option \"%s\""
              .formatted(format.name(), FormatOptionKeys.PATH));
    }
    return new CommonOptions(
        options,
        paths,
        options.list(FormatOptionKeys.COLUMNS),
        options.integer(
            FormatOptionKeys.PARTITION_BYTES,
            DEFAULT_PARTITION_BYTES,
            MIN_PARTITION_BYTES,
            MAX_PARTITION_BYTES));
  }

  /**
   * Removes the properties of a table of Spark's catalog, which come with its options: reserved
   * ones, those of the user, and each option once more with a prefix.
   */
  private static void keepOptions(
      Map<String, String> values, CaseInsensitiveStringMap given, Set<String> legal) {
    values
        .keySet()
        .removeIf(key -> !legal.contains(key) && !given.containsKey(OPTION_PREFIX + key));
    String location = given.get(TableCatalog.PROP_LOCATION);
    if (location != null && !given.containsKey(FormatOptionKeys.PATHS)) {
      values.putIfAbsent(FormatOptionKeys.PATH, location);
    }
  }

  private static List<String> paths(FormatOptions options) {
    List<String> paths = new ArrayList<>();
    options.text(FormatOptionKeys.PATHS).ifPresent(json -> paths.addAll(parsed(json)));
    options.text(FormatOptionKeys.PATH).ifPresent(paths::add);
    return paths;
  }

  /** Returns the paths of {@code load(path1, path2, ..)}, which Spark passes as JSON. */
  private static List<String> parsed(String json) {
    try {
      return List.of(new ObjectMapper().readValue(json, String[].class));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "option \"%s\" is not a JSON list of paths: %s".formatted(FormatOptionKeys.PATHS, json),
          e);
    }
  }
}
