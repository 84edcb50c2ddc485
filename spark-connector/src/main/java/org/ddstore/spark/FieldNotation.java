// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * The notation of field types in commands and options: {@code float32}, {@code uint8[28,28]}, or
 * {@code float32[?,2]} with a first dimension that varies.
 */
public final class FieldNotation {
  private static final Pattern FORM = Pattern.compile("(\\w+)(?:\\[([^\\]]*)])?");

  private FieldNotation() {}

  /**
   * Parses a type.
   *
   * @param column name of the field
   * @param type type and shape, such as {@code uint8[28,28]}
   * @return the field
   * @throws IllegalArgumentException if the type is illegal; the message names the illegal part
   */
  public static Field parse(String column, String type) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(type, "type is null");
    Matcher form = FORM.matcher(type.strip());
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "illegal type \"%s\": use a form such as uint8[28,28] or float32[?,2]".formatted(type));
    }
    String list = form.group(2);
    String[] dimensions =
        list == null || list.isBlank() ? new String[0] : list.strip().split("\\s*,\\s*");
    boolean isRagged = dimensions.length > 0 && dimensions[0].equals("?");
    int[] fixed =
        Arrays.stream(dimensions)
            .skip(isRagged ? 1 : 0)
            .mapToInt(dimension -> dimension(type, dimension))
            .toArray();
    DType dtype = dtype(type, form.group(1));
    return isRagged ? Field.ragged(column, dtype, fixed) : Field.fixed(column, dtype, fixed);
  }

  private static int dimension(String text, String dimension) {
    try {
      return Integer.parseInt(dimension);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "\"%s\": dimension \"%s\" is not a number".formatted(text, dimension), e);
    }
  }

  private static DType dtype(String text, String name) {
    return Arrays.stream(DType.values())
        .filter(dtype -> dtype.toString().equals(name.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "\"%s\": no type \"%s\": choose one of %s"
                        .formatted(text, name, Arrays.toString(DType.values()))));
  }

  /**
   * {@return a copy of a specification that declares a column's field}
   *
   * @param spec specification of a store
   * @param field field of a column
   */
  public static StoreSpec declare(StoreSpec spec, Field field) {
    Objects.requireNonNull(spec, "spec is null");
    Objects.requireNonNull(field, "field is null");
    return field.isRagged()
        ? spec.raggedField(field.name(), field.dtype(), field.shape())
        : spec.field(field.name(), field.dtype(), field.shape());
  }
}
