// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import org.ddstore.spark.types.DecimalForm;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A value that the user gives for a column, as in {@code age=-1}.
 *
 * @param column name of the column; empty for all columns
 * @param value value in its notation; can be empty
 */
record ColumnValue(String column, String value) {

  /** Returns the last value that was given for a column; null if there is none. */
  static String of(String column, List<ColumnValue> values) {
    return values.stream()
        .filter(given -> given.column.equals(column))
        .reduce((first, second) -> second)
        .map(ColumnValue::value)
        .orElse(null);
  }

  DecimalForm form() {
    return DecimalForm.parse(value);
  }

  /** A converter for picocli of a column and its value. */
  static final class Converter implements ITypeConverter<ColumnValue> {
    @Override
    public ColumnValue convert(String text) {
      int equals = text.indexOf('=');
      if (equals <= 0) {
        throw new TypeConversionException(
            "\"%s\" is not COLUMN=VALUE, as in age=-1".formatted(text));
      }
      return new ColumnValue(
          ColumnName.plain(text.substring(0, equals)), text.substring(equals + 1));
    }
  }

  /** A converter for picocli of a form of decimals, with or without a column. */
  static final class FormConverter implements ITypeConverter<ColumnValue> {
    @Override
    public ColumnValue convert(String text) {
      int equals = text.lastIndexOf('=');
      ColumnValue form =
          new ColumnValue(
              ColumnName.plain(text.substring(0, Math.max(0, equals))), text.substring(equals + 1));
      try {
        form.form();
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
      return form;
    }
  }
}
