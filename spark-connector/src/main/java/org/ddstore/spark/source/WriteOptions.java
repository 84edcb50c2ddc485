package org.ddstore.spark.source;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.FieldNotation;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.ingest.Wording;
import org.ddstore.types.Backing;

/**
 * The options of a write, which determine how a DataFrame becomes a store. Keys are
 * case-insensitive, as Spark requires.
 */
final class WriteOptions {
  private static final String TYPE_PREFIX = "type.";
  private static final String RANKS = "ranks";
  private static final String WIDTH = "width";
  private static final String TRANSPORT = "transport";
  private static final String ORDER_BY = "orderBy";
  private static final String SHUFFLE = "shuffle";
  private static final String COLUMNS = "columns";
  private static final String BACKING = "backing";
  private static final String DIRECTORY = "directory";
  private static final String TYPE = TYPE_PREFIX + "<column>";

  private static final List<String> LEGAL =
      List.of(
          ReadOptions.NAME,
          ReadOptions.PATH,
          RANKS,
          WIDTH,
          TRANSPORT,
          ORDER_BY,
          SHUFFLE,
          COLUMNS,
          BACKING,
          DIRECTORY,
          TYPE);

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
          boolean isType = key.toLowerCase(Locale.ROOT).startsWith(TYPE_PREFIX);
          options.put(key, value);
          named.put(isType ? TYPE : key, value);
        });
    ReadOptions.refuseUnknown(named, LEGAL, "write");
  }

  /** Returns the name of the store to write, from its option. */
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
    for (Map.Entry<String, String> option : options.entrySet()) {
      String key = option.getKey();
      String value = option.getValue().strip();
      spec =
          key.toLowerCase(Locale.ROOT).startsWith(TYPE_PREFIX)
              ? declare(spec, key.substring(TYPE_PREFIX.length()), value, rows.schema())
              : apply(spec, key, value);
    }
    return spec;
  }

  private StoreSpec apply(StoreSpec spec, String key, String value) {
    return switch (canonical(key)) {
      case RANKS -> spec.ranks((int) number(key, value, 1, StoreSpec.MAX_RANKS));
      case WIDTH -> spec.width((int) number(key, value, 1, StoreSpec.MAX_RANKS));
      case SHUFFLE -> spec.shuffle(number(key, value, Long.MIN_VALUE, Long.MAX_VALUE));
      case TRANSPORT -> spec.transport(value);
      case ORDER_BY -> spec.orderBy(names(value));
      case COLUMNS -> spec.columns(names(value));
      case BACKING -> spec.backing(backing(value));
      case DIRECTORY -> inFiles(spec, value);
      default -> spec;
    };
  }

  private static String canonical(String key) {
    return LEGAL.stream().filter(key::equalsIgnoreCase).findFirst().orElse(key);
  }

  private static String[] names(String list) {
    return list.split("\\s*,\\s*");
  }

  private static long number(String key, String value, long least, long most) {
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\", not an integer".formatted(key, value), e);
    }
    throw new IllegalArgumentException(
        "option \"%s\" is %s, outside [%,d, %,d]".formatted(key, value, least, most));
  }

  private static Backing backing(String value) {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "shm" -> Backing.SHM;
      case "direct" -> Backing.DIRECT;
      case "file" -> Backing.FILE;
      default ->
          throw new IllegalArgumentException(
              "option \"backing\" is \"%s\"; legal are shm, direct and file".formatted(value));
    };
  }

  private StoreSpec inFiles(StoreSpec spec, String directory) {
    String backing = options.getOrDefault(BACKING, "").strip();
    if (!backing.equalsIgnoreCase("file")) {
      throw new IllegalArgumentException(
          "option \"directory\" is \"%s\", but \"backing\" is %s: set \"backing\" to \"file\""
              .formatted(directory, backing.isEmpty() ? "not set" : "\"" + backing + "\""));
    }
    return spec.files(Path.of(directory));
  }

  private static StoreSpec declare(StoreSpec spec, String column, String type, StructType schema) {
    List<String> columns = new ArrayList<>();
    addLeaves("", schema, columns);
    List<String> matches = columns.stream().filter(column::equalsIgnoreCase).toList();
    if (matches.size() != 1) {
      throw new IllegalArgumentException(
          "option \"%s%s\" matches %s; columns are %s"
              .formatted(
                  TYPE_PREFIX,
                  column,
                  matches.isEmpty() ? "no column" : "several columns",
                  columns));
    }
    return FieldNotation.declare(spec, FieldNotation.parse(matches.get(0), type));
  }

  private static void addLeaves(String prefix, StructType type, List<String> columns) {
    for (StructField field : type.fields()) {
      DataType inner = field.dataType();
      if (inner instanceof StructType struct) {
        addLeaves(prefix + field.name() + ".", struct, columns);
      } else {
        columns.add(prefix + field.name());
      }
    }
  }

  /** Returns whether the name is the only option. */
  boolean isPlain() {
    return options.keySet().stream()
        .allMatch(
            key ->
                key.startsWith("__")
                    || key.equalsIgnoreCase(ReadOptions.NAME)
                    || key.equalsIgnoreCase(ReadOptions.PATH));
  }
}
