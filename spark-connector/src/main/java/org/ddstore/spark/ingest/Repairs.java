// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.nio.ByteBuffer;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;

/**
 * The treatment of null, missing and surplus elements; null or false makes them errors.
 *
 * @param fill replacement of nulls, as it is stored
 * @param pad value of missing elements, as it is stored
 * @param truncate whether surplus elements are left out
 */
record Repairs(Serializable fill, Serializable pad, boolean truncate) implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Checks that the options of a column are options of its type.
   *
   * @throws IngestException if an option does not fit the type
   */
  static void check(String name, DataType type, IngestOptions options) {
    boolean isArray = type instanceof ArrayType;
    if (!isArray && options.pads().containsKey(name)) {
      throw unfit(ColumnOption.PAD, name, "arrays", type, options);
    } else if (!isArray && options.truncated().contains(name)) {
      throw unfit(ColumnOption.TRUNCATE, name, "arrays", type, options);
    }
    DataType innermost = type;
    while (innermost instanceof ArrayType array) {
      innermost = array.elementType();
    }
    if (options.decimals().containsKey(name) && !(innermost instanceof DecimalType)) {
      throw unfit(ColumnOption.DECIMALS, name, "decimals", type, options);
    }
  }

  private static IngestException unfit(
      ColumnOption option, String name, String others, DataType type, IngestOptions options) {
    return problem(
        name,
        "%s is for %s, not for %s: remove it"
            .formatted(option.of(name, options.wording()), others, type.sql()));
  }

  /**
   * Returns the treatment of a column of numbers or of arrays of numbers.
   *
   * @param dtype type in which the numbers are stored
   * @throws IngestException if a value does not fit the column or its field
   */
  static Repairs of(String name, NumberSource numbers, DType dtype, IngestOptions options) {
    return new Repairs(
        stored(name, options.fills().get(name), numbers, dtype, ColumnOption.FILL_NULLS, options),
        stored(name, options.pads().get(name), numbers, dtype, ColumnOption.PAD, options),
        options.truncated().contains(name));
  }

  private static Serializable stored(
      String name,
      Serializable value,
      NumberSource numbers,
      DType dtype,
      ColumnOption option,
      IngestOptions options) {
    if (value == null) {
      return null;
    }
    String words = option.of(name, options.wording());
    Serializable stored;
    try {
      stored = numbers.converted(value);
    } catch (ArithmeticException e) {
      throw problem(
          name, "%s: value %s does not fit %s".formatted(words, value, numbers.decimals()));
    }
    NumberStore store = new NumberStore(dtype);
    if (!store.putValue(ByteBuffer.allocate(Long.BYTES), 0, stored)) {
      throw problem(
          name, "%s: value %s is outside %s of %s".formatted(words, stored, store.range(), dtype));
    }
    return stored;
  }

  private static IngestException problem(String name, String text) {
    return new IngestException(name, IngestException.NO_ROW, text);
  }
}
