// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.FieldMetadata;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * The options of a load: the mapping of DataFrame columns to fields of records, and the order of
 * the rows. A column inside a struct is named by its path, such as {@code a.b}. Immutable; every
 * {@code with} method returns a changed copy.
 */
public final class IngestOptions {
  private static final IngestOptions DEFAULTS = new IngestOptions();

  private final Map<String, DeclaredField> fields = new LinkedHashMap<>();

  /** Fields that the metadata of columns declare. */
  private final Map<String, DeclaredField> sources = new LinkedHashMap<>();

  private final Map<String, Serializable> fills = new LinkedHashMap<>();
  private final Map<String, Number> pads = new LinkedHashMap<>();
  private final Set<String> truncated = new LinkedHashSet<>();
  private final Map<String, DecimalForm> decimals = new LinkedHashMap<>();
  private DecimalForm otherDecimals;
  private final List<String> columns = new ArrayList<>();
  private final List<String> orderBy = new ArrayList<>();
  private Long shuffleSeed;
  private Wording wording = Wording.METHODS;

  private IngestOptions() {}

  private IngestOptions(IngestOptions from) {
    fields.putAll(from.fields);
    sources.putAll(from.sources);
    fills.putAll(from.fills);
    pads.putAll(from.pads);
    truncated.addAll(from.truncated);
    decimals.putAll(from.decimals);
    otherDecimals = from.otherDecimals;
    columns.addAll(from.columns);
    orderBy.addAll(from.orderBy);
    shuffleSeed = from.shuffleSeed;
    wording = from.wording;
  }

  /** Returns the defaults: all columns, default types, rows in the order of their source. */
  public static IngestOptions defaults() {
    return DEFAULTS;
  }

  /** Returns the defaults with the fields that the metadata of columns declare. */
  public static IngestOptions declaredBy(StructType schema) {
    return declare("", schema, DEFAULTS);
  }

  private static IngestOptions declare(String prefix, StructType schema, IngestOptions options) {
    IngestOptions declared = options;
    for (StructField column : schema.fields()) {
      String name = prefix + column.name();
      if (column.dataType() instanceof StructType struct) {
        declared = declare(name + ".", struct, declared);
      }
      Optional<Field> field = FieldMetadata.field(name, column.metadata());
      if (field.isPresent()) {
        Field found = field.get();
        DeclaredField source = new DeclaredField(found.isRagged(), found.dtype(), found.shape());
        declared = declared.withDeclared(name, source);
        declared.sources.put(name, source);
      }
    }
    return declared;
  }

  /**
   * Declares the field of a column: element type and fixed shape, empty for a scalar. The column
   * can contain nested arrays of that shape, one flat array in row-major order, or binary with the
   * little-endian bytes of all elements. Values are converted; a value that does not fit is an
   * error.
   */
  public IngestOptions field(String column, DType dtype, int... shape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(shape, "shape is null");
    return withDeclared(column, new DeclaredField(false, dtype, shape));
  }

  /** Declares a ragged column of arrays: a varying number of rows of {@code innerShape}. */
  public IngestOptions raggedField(String column, DType dtype, int... innerShape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(innerShape, "innerShape is null");
    return withDeclared(column, new DeclaredField(true, dtype, innerShape));
  }

  private IngestOptions withDeclared(String column, DeclaredField field) {
    IngestOptions copy = new IngestOptions(this);
    copy.fields.put(column, field);
    return copy;
  }

  /**
   * Replaces nulls of a column, or of elements of its arrays, by {@code value}. A null array
   * becomes an array of the declared fixed shape; a column without a declared shape becomes ragged
   * and its null arrays become empty.
   *
   * @param value a {@code Number}, {@code Boolean}, {@code String} or {@code byte[]}, matching the
   *     column's type
   */
  public IngestOptions fillNulls(String column, Serializable value) {
    Objects.requireNonNull(value, "value is null");
    if (!(value instanceof Number
        || value instanceof Boolean
        || value instanceof String
        || value instanceof byte[])) {
      throw new IllegalArgumentException(
          "fill of column \"%s\": %s is not a number, boolean, string or byte[]"
              .formatted(column, value.getClass().getName()));
    }
    IngestOptions copy = new IngestOptions(this);
    copy.fills.put(
        Objects.requireNonNull(column, "column is null"),
        value instanceof byte[] bytes ? bytes.clone() : value);
    return copy;
  }

  /** Pads arrays shorter than their declared shape with {@code value}. */
  public IngestOptions pad(String column, Number value) {
    IngestOptions copy = new IngestOptions(this);
    copy.pads.put(
        Objects.requireNonNull(column, "column is null"),
        Objects.requireNonNull(value, "value is null"));
    return copy;
  }

  /** Truncates arrays longer than their declared shape. */
  public IngestOptions truncate(String column) {
    IngestOptions copy = new IngestOptions(this);
    copy.truncated.add(Objects.requireNonNull(column, "column is null"));
    return copy;
  }

  /**
   * Sets the form in which decimals are stored, of some columns or, without any, of all columns
   * that have no form of their own. An array of decimals has the same forms. A declared type
   * applies to the numbers of the form.
   */
  public IngestOptions decimals(DecimalForm form, String... columns) {
    Objects.requireNonNull(form, "form is null");
    requireAll(columns, "columns");
    IngestOptions copy = new IngestOptions(this);
    if (columns.length == 0) {
      copy.otherDecimals = form;
    }
    for (String column : columns) {
      copy.decimals.put(column, form);
    }
    return copy;
  }

  /** Selects columns, in this order; a struct stands for all its fields. */
  public IngestOptions columns(String... names) {
    requireAll(names, "names");
    IngestOptions copy = new IngestOptions(this);
    copy.columns.clear();
    copy.columns.addAll(Arrays.asList(names));
    return copy;
  }

  /**
   * Orders the rows by these columns, ascending, nulls first; ties keep the order of the source.
   * The columns need not be selected as fields.
   *
   * @throws IllegalArgumentException if the rows are shuffled
   */
  public IngestOptions orderBy(String... columns) {
    requireAll(columns, "columns");
    IngestOptions copy = new IngestOptions(this);
    copy.orderBy.clear();
    copy.orderBy.addAll(Arrays.asList(columns));
    return copy.checkOrder();
  }

  /**
   * Orders the rows randomly, depending only on {@code seed} and their positions in the source.
   *
   * @throws IllegalArgumentException if the rows are ordered by columns
   */
  public IngestOptions shuffle(long seed) {
    IngestOptions copy = new IngestOptions(this);
    copy.shuffleSeed = seed;
    return copy.checkOrder();
  }

  /** Sets the interface that messages refer to, {@link Wording#METHODS} by default. */
  public IngestOptions wording(Wording wording) {
    IngestOptions copy = new IngestOptions(this);
    copy.wording = Objects.requireNonNull(wording, "wording is null");
    return copy;
  }

  private static void requireAll(String[] elements, String name) {
    Objects.requireNonNull(elements, name + " is null");
    for (String element : elements) {
      Objects.requireNonNull(element, () -> "an element of " + name + " is null");
    }
  }

  private IngestOptions checkOrder() {
    if (shuffleSeed != null && !orderBy.isEmpty()) {
      throw new IllegalArgumentException(
          "rows are either ordered by %s or shuffled with seed %d, not both"
              .formatted(orderBy, shuffleSeed));
    }
    return this;
  }

  /** Returns the fields that the metadata of columns declare, whatever the caller declares. */
  Map<String, DeclaredField> sources() {
    return sources;
  }

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

  Map<String, DecimalForm> decimals() {
    return decimals;
  }

  /** Returns the form of the other decimal columns; empty if they are refused. */
  Optional<DecimalForm> otherDecimals() {
    return Optional.ofNullable(otherDecimals);
  }

  /** Returns the form of a decimal column; null if it is refused. */
  DecimalForm decimalForm(String column) {
    return decimals.getOrDefault(column, otherDecimals);
  }

  /** Returns the selected columns; empty for all. */
  List<String> columns() {
    return columns;
  }

  /** Returns whether all columns are loaded, because none is selected. */
  public boolean takesAll() {
    return columns.isEmpty();
  }

  /** Returns the columns to order by; empty for the order of the source. */
  public List<String> orderBy() {
    return List.copyOf(orderBy);
  }

  public OptionalLong shuffleSeed() {
    return shuffleSeed == null ? OptionalLong.empty() : OptionalLong.of(shuffleSeed);
  }

  Wording wording() {
    return wording;
  }

  /** Returns the options that are set, as text; empty if none is. Values of fills are left out. */
  public String text() {
    List<String> set = new ArrayList<>();
    if (!fields.isEmpty()) {
      set.add("fields " + fields);
    }
    addTo(set, "fillNulls", fills.keySet());
    addTo(set, "pad", pads.keySet());
    addTo(set, "truncate", truncated);
    if (otherDecimals != null) {
      set.add("decimals " + otherDecimals);
    }
    if (!decimals.isEmpty()) {
      set.add("decimals " + decimals);
    }
    addTo(set, "selected", columns);
    addTo(set, "order by", orderBy);
    if (shuffleSeed != null) {
      set.add("shuffle " + shuffleSeed);
    }
    return String.join(", ", set);
  }

  private static void addTo(List<String> set, String option, Collection<String> names) {
    if (!names.isEmpty()) {
      set.add(option + " " + names);
    }
  }

  @Override
  public String toString() {
    return "IngestOptions[%s]".formatted(text());
  }
}
