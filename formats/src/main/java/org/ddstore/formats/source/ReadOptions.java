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
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.SampleFormat;

/** The options that all formats have, and those of the format. */
record ReadOptions(
    FormatOptions options, List<String> paths, List<String> columns, long partitionBytes) {
  static final String PATH = "path";
  static final String PATHS = "paths";
  static final String COLUMNS = "columns";
  static final String PARTITION_BYTES = "partitionBytes";

  private static final long DEFAULT_PARTITION_BYTES = 32 << 20;
  private static final long MIN_PARTITION_BYTES = 1 << 10;
  private static final long MAX_PARTITION_BYTES = 1 << 30;

  /**
   * Reads the options of a call.
   *
   * @throws IllegalArgumentException if an option is unknown or illegal, or no path is given
   */
  static ReadOptions of(SampleFormat format, CaseInsensitiveStringMap given) {
    Map<String, String> values = new HashMap<>(given.asCaseSensitiveMap());
    values.keySet().removeIf(key -> key.startsWith("__")); // of Spark, not of the caller
    FormatOptions options = new FormatOptions(values);
    Set<String> legal = new TreeSet<>(format.options());
    legal.addAll(List.of(PATH, PATHS, COLUMNS, PARTITION_BYTES));
    options.requireKeys("format \"%s\"".formatted(format.name()), legal);
    List<String> paths = paths(options);
    if (paths.isEmpty()) {
      throw new IllegalArgumentException(
          "format \"%s\": no path: pass one to load(..), or as option \"%s\""
              .formatted(format.name(), PATH));
    }
    return new ReadOptions(
        options,
        paths,
        options.list(COLUMNS),
        options.integer(
            PARTITION_BYTES, DEFAULT_PARTITION_BYTES, MIN_PARTITION_BYTES, MAX_PARTITION_BYTES));
  }

  private static List<String> paths(FormatOptions options) {
    List<String> paths = new ArrayList<>();
    options.text(PATHS).ifPresent(json -> paths.addAll(parsed(json)));
    options.text(PATH).ifPresent(paths::add);
    return paths;
  }

  /** Returns the paths of {@code load(path1, path2, ..)}, which Spark passes as JSON. */
  private static List<String> parsed(String json) {
    try {
      return List.of(new ObjectMapper().readValue(json, String[].class));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "option \"%s\" is no JSON list of paths: %s".formatted(PATHS, json), e);
    }
  }
}
