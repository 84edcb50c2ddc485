// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.ddstore.spark.FieldNotation;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.ingest.LeafTypes;
import org.ddstore.spark.ingest.ValueNotation;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.types.Field;

/**
 * The options of a write that concern one column: a prefix, then the path of the column in upper or
 * lower case.
 */
final class ColumnOptions {
  /** The column in the documentation of a key. */
  static final String COLUMN = "<column>";

  private static final List<String> PREFIXES =
      List.of(
          OptionKeys.TYPE_PREFIX,
          OptionKeys.FILL_NULLS_PREFIX,
          OptionKeys.PAD_PREFIX,
          OptionKeys.TRUNCATE_PREFIX,
          OptionKeys.DECIMALS_PREFIX);

  private final Map<String, DataType> types;
  private final ValueNotation values;

  ColumnOptions(Dataset<Row> rows) {
    this.types = LeafTypes.of(rows.schema());
    this.values = ValueNotation.of(rows.sparkSession());
  }

  /** Returns the prefix of a key; empty if the option does not concern one column. */
  static Optional<String> prefix(String key) {
    String lower = key.toLowerCase(Locale.ROOT);
    return PREFIXES.stream()
        .filter(prefix -> lower.startsWith(prefix.toLowerCase(Locale.ROOT)))
        .findFirst();
  }

  /**
   * Returns the spec with an option that has a prefix.
   *
   * @throws IllegalArgumentException if the column does not exist or the value is illegal
   */
  StoreSpec apply(StoreSpec spec, String key, String value) {
    String prefix = prefix(key).orElseThrow();
    String column = column(prefix, key.substring(prefix.length()));
    DataType type = types.get(column);
    String option = "option \"%s%s\"".formatted(prefix, column);
    return switch (prefix) {
      case OptionKeys.TYPE_PREFIX -> FieldNotation.declare(spec, field(option, column, value));
      case OptionKeys.FILL_NULLS_PREFIX -> spec.fillNulls(column, values.fill(option, type, value));
      case OptionKeys.PAD_PREFIX -> spec.pad(column, values.pad(option, type, value));
      case OptionKeys.TRUNCATE_PREFIX -> truth(key, value) ? spec.truncate(column) : spec;
      default -> spec.decimals(form(key, value), column);
    };
  }

  private static Field field(String option, String column, String value) {
    try {
      return FieldNotation.parse(column, value.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s: %s".formatted(option, e.getMessage()), e);
    }
  }

  private String column(String prefix, String name) {
    List<String> matches = types.keySet().stream().filter(name::equalsIgnoreCase).toList();
    if (matches.size() != 1) {
      throw new IllegalArgumentException(
          "option \"%s%s\": ".formatted(prefix, name)
              + (matches.isEmpty()
                  ? "no such column: choose one of " + types.keySet()
                  : "columns %s differ only in case, which options do not distinguish: rename one"
                      .formatted(matches)));
    }
    return matches.get(0);
  }

  private static boolean truth(String key, String value) {
    return switch (value.strip().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "option \"%s\" is \"%s\"; legal values: true, false".formatted(key, value));
    };
  }

  /**
   * Returns the form of decimals that is the value of an option.
   *
   * @throws IllegalArgumentException if the value is illegal
   */
  static DecimalForm form(String key, String value) {
    try {
      return DecimalForm.parse(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\"; legal values: float64, int64".formatted(key, value), e);
    }
  }
}
