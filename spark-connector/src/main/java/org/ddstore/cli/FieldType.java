package org.ddstore.cli;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.DType;
import org.ddstore.Field;
import org.ddstore.spark.StoreSpec;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A field as a user declares it: {@code image=uint8[28,28]}, or {@code points=float32[?,2]} for a
 * ragged one.
 */
record FieldType(Field field) {
  private static final Pattern FORM = Pattern.compile("(.+)=(\\w+)(?:\\[([^\\]]*)])?");

  static FieldType parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is not NAME=TYPE[SHAPE], as in image=uint8[28,28] or points=float32[?,2]"
              .formatted(text));
    }
    String list = form.group(3);
    String[] dimensions =
        list == null || list.isBlank() ? new String[0] : list.strip().split("\\s*,\\s*");
    boolean isRagged = dimensions.length > 0 && dimensions[0].equals("?");
    int[] fixed =
        Arrays.stream(dimensions)
            .skip(isRagged ? 1 : 0)
            .mapToInt(dimension -> dimension(text, dimension))
            .toArray();
    DType dtype = dtype(text, form.group(2));
    return new FieldType(
        isRagged
            ? Field.ragged(form.group(1), dtype, fixed)
            : Field.fixed(form.group(1), dtype, fixed));
  }

  private static int dimension(String text, String dimension) {
    try {
      return Integer.parseInt(dimension);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "\"%s\": dimension \"%s\" is no number".formatted(text, dimension), e);
    }
  }

  private static DType dtype(String text, String name) {
    return Arrays.stream(DType.values())
        .filter(dtype -> dtype.toString().equals(name.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "\"%s\": no type \"%s\"; there are %s"
                        .formatted(text, name, Arrays.toString(DType.values()))));
  }

  /** The name of the column. */
  String column() {
    return field.name();
  }

  StoreSpec declareIn(StoreSpec spec) {
    return field.isRagged()
        ? spec.raggedField(field.name(), field.dtype(), field.shape())
        : spec.field(field.name(), field.dtype(), field.shape());
  }

  /** For picocli, which reports a failure as an error of usage. */
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
