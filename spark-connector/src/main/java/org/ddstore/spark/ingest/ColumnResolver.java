// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;

/** A resolver of the DataFrame columns that become fields, from schema and options. */
final class ColumnResolver {
  private final IngestOptions options;
  private final Map<String, Column> columns = new LinkedHashMap<>();
  private final Map<String, IngestException> refused = new LinkedHashMap<>();

  private ColumnResolver(IngestOptions options) {
    this.options = options;
  }

  /**
   * Returns the columns in the order of the schema or of {@link IngestOptions#columns}.
   *
   * @throws IngestException if a type cannot be stored
   * @throws IllegalArgumentException if an option matches no column or does not fit its column
   */
  static List<Column> resolve(StructType schema, IngestOptions options) {
    return of(schema, options).chosen();
  }

  private static ColumnResolver of(StructType schema, IngestOptions options) {
    ColumnResolver resolver = new ColumnResolver(options);
    StructField[] fields = schema.fields();
    for (int i = 0; i < fields.length; i++) {
      resolver.add(ColumnPath.top(fields[i].name(), i), fields[i].dataType());
    }
    return resolver;
  }

  private List<Column> chosen() {
    checkNames();
    List<Column> chosen = new ArrayList<>();
    List<IngestException> problems = new ArrayList<>();
    if (options.columns().isEmpty()) {
      chosen.addAll(columns.values());
      problems.addAll(refused.values());
    }
    for (String name : options.columns()) {
      columns.forEach((key, column) -> addIfNamed(name, key, column, chosen));
      refused.forEach((key, problem) -> addIfNamed(name, key, problem, problems));
    }
    if (!problems.isEmpty()) {
      throw problems.get(0);
    }
    if (chosen.isEmpty()) {
      throw new IllegalArgumentException("the DataFrame has no columns");
    }
    return chosen;
  }

  private static <T> void addIfNamed(String name, String key, T value, List<T> to) {
    if (isNamed(name, key)) {
      to.add(value);
    }
  }

  /**
   * Checks that all columns of the options exist.
   *
   * @throws IllegalArgumentException naming the first missing column
   */
  static void checkNames(StructType schema, IngestOptions options) {
    of(schema, options).checkNames();
  }

  private void checkNames() {
    checkNames(ColumnOption.TYPE, options.fields().keySet());
    checkNames(ColumnOption.FILL_NULLS, options.fills().keySet());
    checkNames(ColumnOption.PAD, options.pads().keySet());
    checkNames(ColumnOption.TRUNCATE, options.truncated());
    checkNames(ColumnOption.DECIMALS, options.decimals().keySet());
    for (String name : options.columns()) {
      if (Stream.concat(columns.keySet().stream(), refused.keySet().stream())
          .noneMatch(key -> isNamed(name, key))) {
        throw unknown("column \"%s\"".formatted(name));
      }
    }
  }

  private static boolean isNamed(String name, String key) {
    return key.equals(name) || key.startsWith(name + ".");
  }

  private void checkNames(ColumnOption option, Set<String> names) {
    for (String name : names) {
      if (!columns.containsKey(name) && !refused.containsKey(name)) {
        throw unknown(option.of(name, options.wording()));
      }
    }
  }

  private IllegalArgumentException unknown(String option) {
    return new IllegalArgumentException(
        "%s: no such column: choose one of %s".formatted(option, columns.keySet()));
  }

  private void add(ColumnPath path, DataType type) {
    if (type instanceof UserDefinedType<?> userDefined) {
      add(path, userDefined.sqlType());
    } else if (type instanceof StructType struct && !VectorColumn.isVector(struct)) {
      StructField[] fields = struct.fields();
      if (fields.length == 0) {
        refused.put(
            path.name(),
            problem(
                path.name(),
                "a struct without fields cannot be stored: drop it from the query, or "
                    + options.wording().leavingOut()));
      }
      for (int i = 0; i < fields.length; i++) {
        add(path.inside(fields[i].name(), i, fields.length), fields[i].dataType());
      }
    } else {
      try {
        if (columns.put(path.name(), leaf(path, type)) != null) {
          throw new IngestException(
              path.name(), IngestException.NO_ROW, "two columns have this name: rename one");
        }
      } catch (IngestException e) {
        refused.put(path.name(), e);
      }
    }
  }

  private Column leaf(ColumnPath path, DataType type) {
    String name = path.name();
    DeclaredField declared = options.fields().get(name);
    Serializable fill = options.fills().get(name);
    Optional<NumberSource> number = NumberSource.of(type, options.decimalForm(name));
    Repairs.check(name, type, options);
    if (type instanceof StructType) {
      checkFill(name, fill, false);
      return new VectorColumn(undeclared(path, declared, "a vector"), ArrayForm.RAGGED, 0);
    } else if (number.isPresent()) {
      checkFill(name, fill, fill instanceof Number || fill instanceof Boolean);
      return scalar(path, number.get(), declared);
    } else if (type instanceof StringType) {
      checkFill(name, fill, fill instanceof String);
      return new TextColumn(undeclared(path, declared, "text"), true, fill);
    } else if (type instanceof BinaryType) {
      checkFill(name, fill, fill instanceof byte[]);
      return declared == null
          ? new TextColumn(path, false, fill)
          : rawBytes(path, declared, (byte[]) fill);
    } else if (type instanceof ArrayType array) {
      checkFill(name, fill, fill instanceof Number || fill instanceof Boolean);
      return array(path, array, declared);
    }
    throw problem(
        name,
        "%s cannot be stored%s; %s"
            .formatted(
                type.sql(), formOf(name, type), TypeRemedy.of(path, type, options.wording())));
  }

  /** Returns the form in which decimals cannot be stored. */
  private String formOf(String name, DataType type) {
    return type instanceof DecimalType && options.decimalForm(name) != null
        ? " as " + options.decimalForm(name)
        : "";
  }

  private static ColumnPath undeclared(ColumnPath path, DeclaredField declared, String what) {
    if (declared != null) {
      throw problem(path.name(), "%s cannot be declared as %s".formatted(what, declared));
    }
    return path;
  }

  private static void checkFill(String name, Serializable fill, boolean fits) {
    if (fill != null && !fits) {
      throw problem(name, "cannot be filled with a " + fill.getClass().getSimpleName());
    }
  }

  private static Column rawBytes(ColumnPath path, DeclaredField declared, byte... fill) {
    if (declared.ragged()) {
      throw problem(path.name(), "binary needs a fixed shape to be declared as " + declared);
    }
    return new RawBytesColumn(path, declared, fill);
  }

  private Column scalar(ColumnPath path, NumberSource numbers, DeclaredField given) {
    DeclaredField declared = given == null ? new DeclaredField(false, numbers.natural()) : given;
    if (declared.ragged() || declared.field(path.name()).elements() != 1) {
      throw problem(path.name(), "one number per row cannot be declared as " + declared);
    }
    checkConversion(path.name(), numbers, declared.dtype());
    Repairs repairs = Repairs.of(path.name(), numbers, declared.dtype(), options);
    return new ScalarColumn(path, numbers, declared, repairs.fill());
  }

  private Column array(ColumnPath path, ArrayType outer, DeclaredField declared) {
    String name = path.name();
    int depth = 1;
    ArrayType array = outer;
    while (array.elementType() instanceof ArrayType inner) {
      array = inner;
      depth++;
    }
    DataType element = array.elementType();
    NumberSource numbers = NumberSource.of(element, options.decimalForm(name)).orElse(null);
    if (numbers == null) {
      throw problem(
          name,
          "arrays of %s cannot be stored%s; %s"
              .formatted(
                  element.sql(),
                  formOf(name, element),
                  TypeRemedy.of(path, outer, options.wording())));
    }
    DType dtype = declared == null ? numbers.natural() : declared.dtype();
    checkConversion(name, numbers, dtype);
    Repairs repairs = Repairs.of(name, numbers, dtype, options);
    if (declared == null) {
      if (depth > 1) {
        throw problem(
            name,
            "arrays of arrays need a declared shape: "
                + options.wording().declaration(name, dtype));
      }
      if (repairs.pad() != null || repairs.truncate()) {
        ColumnOption option = repairs.pad() == null ? ColumnOption.TRUNCATE : ColumnOption.PAD;
        throw problem(
            name,
            "%s needs a declared shape: %s"
                .formatted(
                    option.of(name, options.wording()),
                    options.wording().declaration(name, dtype)));
      }
    } else {
      checkShape(name, declared, depth, options.wording());
      checkInner(name, declared, repairs);
    }
    return new ArrayColumn(
        path, new ArrayColumn.Elements(numbers, depth, array.containsNull()), declared, repairs);
  }

  private static void checkShape(String name, DeclaredField declared, int depth, Wording wording) {
    int dimensions = declared.shape().length + (declared.ragged() ? 1 : 0);
    if (dimensions == 0) {
      throw problem(
          name, "arrays need a shape, as in " + wording.declaration(name, declared.dtype()));
    }
    if (depth != 1 && depth != dimensions) {
      throw problem(
          name,
          "arrays nested %d deep do not fit the %d dimensions of %s"
              .formatted(depth, dimensions, declared));
    }
  }

  /**
   * Arrays of several dimensions are flat in a row, and are padded and cut at their end: that is
   * right for the first dimension only.
   */
  private void checkInner(String name, DeclaredField declared, Repairs repairs) {
    DeclaredField source = options.sources().get(name);
    if (source == null || (repairs.pad() == null && !repairs.truncate())) {
      return;
    }
    int[] inner = inner(source);
    if (!Arrays.equals(inner, inner(declared))) {
      ColumnOption option = repairs.pad() == null ? ColumnOption.TRUNCATE : ColumnOption.PAD;
      throw problem(
          name,
          "%s works on the first dimension: the column is %s, so the other dimensions of %s must be %s"
              .formatted(
                  option.of(name, options.wording()), source, declared, Arrays.toString(inner)));
    }
  }

  private static int[] inner(DeclaredField field) {
    int[] shape = field.shape();
    return field.ragged() || shape.length == 0 ? shape : Arrays.copyOfRange(shape, 1, shape.length);
  }

  private static void checkConversion(String name, NumberSource from, DType to) {
    String refusal = NumberStore.refusal(from, to);
    if (refusal != null) {
      throw problem(name, refusal);
    }
  }

  private static IngestException problem(String name, String text) {
    return new IngestException(name, IngestException.NO_ROW, text);
  }
}
