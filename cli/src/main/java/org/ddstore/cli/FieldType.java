// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.spark.FieldNotation;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.Field;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A field as declared by the user: {@code image=uint8[28,28]}, or {@code points=float32[?,2]} for a
 * ragged field.
 */
record FieldType(Field field) {
  private static final Pattern FORM = Pattern.compile("(.+)=(\\w.*)");

  static FieldType parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is not NAME=TYPE[SHAPE], as in image=uint8[28,28] or points=float32[?,2]"
              .formatted(text));
    }
    return new FieldType(FieldNotation.parse(ColumnName.plain(form.group(1)), form.group(2)));
  }

  String column() {
    return field.name();
  }

  StoreSpec declareIn(StoreSpec spec) {
    return FieldNotation.declare(spec, field);
  }

  /** A converter for picocli, which reports a failure as a usage error. */
  static final class Converter implements ITypeConverter<FieldType> {
    @Override
    public FieldType convert(String text) {
      try {
        return parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
