package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.ddstore.types.DType;

/**
 * How the columns of a DataFrame become the fields of records, and in which order its rows are
 * numbered. A column inside a struct is named by its path, as in {@code a.b}. Immutable; every
 * {@code with} method gives a changed copy.
 */
public final class IngestOptions {
  private static final IngestOptions DEFAULTS = new IngestOptions();

  private final Map<String, DeclaredField> fields = new LinkedHashMap<>();
  private final Map<String, Serializable> fills = new LinkedHashMap<>();
  private final Map<String, Number> pads = new LinkedHashMap<>();
  private final Set<String> truncated = new LinkedHashSet<>();
  private final List<String> columns = new ArrayList<>();
  private final List<String> orderBy = new ArrayList<>();
  private Long shuffleSeed;
  private Wording wording = Wording.METHODS;

  private IngestOptions() {}

  private IngestOptions(IngestOptions from) {
    fields.putAll(from.fields);
    fills.putAll(from.fills);
    pads.putAll(from.pads);
    truncated.addAll(from.truncated);
    columns.addAll(from.columns);
    orderBy.addAll(from.orderBy);
    shuffleSeed = from.shuffleSeed;
    wording = from.wording;
  }

  /** All columns, types by the rules of the package, rows in the order of their source. */
  public static IngestOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Declares the field of a column: element type and fixed shape, none for a scalar. The column may
   * hold nested arrays of that shape, one flat array in row-major order, or binary of exactly that
   * many little-endian bytes. Values are converted where they fit; one that does not is an error.
   */
  public IngestOptions withField(String column, DType dtype, int... shape) {
    return withDeclared(column, new DeclaredField(false, dtype, shape));
  }

  /** Declares a column of arrays to be ragged: a varying number of rows of {@code innerShape}. */
  public IngestOptions withRagged(String column, DType dtype, int... innerShape) {
    return withDeclared(column, new DeclaredField(true, dtype, innerShape));
  }

  private IngestOptions withDeclared(String column, DeclaredField field) {
    IngestOptions copy = new IngestOptions(this);
    copy.fields.put(Objects.requireNonNull(column, "column"), field);
    return copy;
  }

  /**
   * Puts {@code value} where a column or an element of its arrays is null. A null array becomes one
   * of the declared fixed shape; a column of undeclared shape is ragged then, and it is empty.
   *
   * @param value a {@code Number}, {@code Boolean}, {@code String} or {@code byte[]} as the column
   *     has it
   */
  public IngestOptions withFilledNulls(String column, Serializable value) {
    if (!(value instanceof Number
        || value instanceof Boolean
        || value instanceof String
        || value instanceof byte[])) {
      throw new IllegalArgumentException(
          "fill of column \"%s\": %s is no number, boolean, string or byte[]"
              .formatted(column, value == null ? "null" : value.getClass().getName()));
    }
    IngestOptions copy = new IngestOptions(this);
    copy.fills.put(
        Objects.requireNonNull(column, "column"),
        value instanceof byte[] bytes ? bytes.clone() : value);
    return copy;
  }

  /** Ends arrays that are shorter than their declared shape with {@code value}. */
  public IngestOptions withPadding(String column, Number value) {
    IngestOptions copy = new IngestOptions(this);
    copy.pads.put(
        Objects.requireNonNull(column, "column"), Objects.requireNonNull(value, "padding"));
    return copy;
  }

  /** Cuts arrays that are longer than their declared shape. */
  public IngestOptions withTruncation(String column) {
    IngestOptions copy = new IngestOptions(this);
    copy.truncated.add(Objects.requireNonNull(column, "column"));
    return copy;
  }

  /** Takes these columns only, in this order; a struct stands for all that is in it. */
  public IngestOptions withColumns(String... names) {
    IngestOptions copy = new IngestOptions(this);
    copy.columns.clear();
    copy.columns.addAll(Arrays.asList(names));
    return copy;
  }

  /**
   * Numbers the rows by these columns, ascending, nulls first; ties keep the order of the source.
   * The columns need not become fields.
   *
   * @throws IllegalArgumentException if the rows are shuffled
   */
  public IngestOptions withOrderBy(String... names) {
    IngestOptions copy = new IngestOptions(this);
    copy.orderBy.clear();
    copy.orderBy.addAll(Arrays.asList(names));
    return copy.checkOrder();
  }

  /**
   * Numbers the rows in an order drawn from {@code seed} and their places in the source.
   *
   * @throws IllegalArgumentException if the rows are ordered by columns
   */
  public IngestOptions withShuffle(long seed) {
    IngestOptions copy = new IngestOptions(this);
    copy.shuffleSeed = seed;
    return copy.checkOrder();
  }

  /** Names remedies in messages as the caller knows them, {@link Wording#METHODS} by default. */
  public IngestOptions withWording(Wording words) {
    IngestOptions copy = new IngestOptions(this);
    copy.wording = Objects.requireNonNull(words, "words");
    return copy;
  }

  private IngestOptions checkOrder() {
    if (shuffleSeed != null && !orderBy.isEmpty()) {
      throw new IllegalArgumentException(
          "rows are either ordered by %s or shuffled with seed %d, not both"
              .formatted(orderBy, shuffleSeed));
    }
    return this;
  }

  /** The declared fields by column. */
  Map<String, DeclaredField> fields() {
    return fields;
  }

  Map<String, Serializable> fills() {
    return fills;
  }

  Map<String, Number> pads() {
    return pads;
  }

  Set<String> truncated() {
    return truncated;
  }

  /** Empty for all. */
  List<String> columns() {
    return columns;
  }

  /** Whether no columns were chosen, so that all are taken. */
  public boolean takesAll() {
    return columns.isEmpty();
  }

  /** Empty for the order of the source. */
  public List<String> orderBy() {
    return List.copyOf(orderBy);
  }

  public OptionalLong shuffleSeed() {
    return shuffleSeed == null ? OptionalLong.empty() : OptionalLong.of(shuffleSeed);
  }

  Wording wording() {
    return wording;
  }

  @Override
  public String toString() {
    return "IngestOptions[fields %s, columns %s, order by %s, shuffle %s]"
        .formatted(fields, columns, orderBy, shuffleSeed);
  }
}
