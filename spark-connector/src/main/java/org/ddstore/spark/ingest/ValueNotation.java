// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.ddstore.types.DType;

/**
 * The notation of values of a column in options and flags: numbers, {@code true} and {@code false},
 * text as it is, binary as hexadecimal digits, dates as {@code 2024-02-29}, timestamps as {@code
 * 2024-02-29 12:00:00}, in the session's time zone unless the value has an offset.
 */
public final class ValueNotation {
  private final ZoneId zone;

  private ValueNotation(ZoneId zone) {
    this.zone = zone;
  }

  /** Returns the notation of a session, whose time zone is that of timestamps without an offset. */
  public static ValueNotation of(SparkSession session) {
    return new ValueNotation(
        ZoneId.of(session.conf().get("spark.sql.session.timeZone"), ZoneId.SHORT_IDS));
  }

  /**
   * Returns the value that replaces nulls of a column, or of elements of its arrays.
   *
   * @param option the caller's name of the option, for messages
   * @throws IllegalArgumentException if the text is not a value of the type
   */
  public Serializable fill(String option, DataType type, String text) {
    Objects.requireNonNull(text, "text is null");
    DataType innermost = type;
    while (innermost instanceof ArrayType array) {
      innermost = array.elementType();
    }
    if (type instanceof StringType) {
      return text;
    } else if (type instanceof BinaryType) {
      return binary(option, text);
    }
    return number(option, innermost, text, "nulls of %s cannot be filled".formatted(type.sql()));
  }

  /**
   * Returns the number with which arrays of a column are padded.
   *
   * @param option the caller's name of the option, for messages
   * @throws IllegalArgumentException if the text is not a number of the arrays
   */
  public Number pad(String option, DataType type, String text) {
    Objects.requireNonNull(text, "text is null");
    DataType innermost = type;
    while (innermost instanceof ArrayType array) {
      innermost = array.elementType();
    }
    String refusal = "values of %s cannot be padded".formatted(type.sql());
    if (!(type instanceof ArrayType)) {
      throw new IllegalArgumentException("%s: %s".formatted(option, refusal));
    }
    Serializable value = number(option, innermost, text, refusal);
    return value instanceof Boolean truth ? (Number) (truth ? 1 : 0) : (Number) value;
  }

  private Serializable number(String option, DataType type, String given, String refusal) {
    String text = given.strip();
    try {
      if (type instanceof DateType) {
        return (int) LocalDate.parse(text).toEpochDay();
      } else if (type instanceof TimestampType) {
        return micros(timestamp(text));
      } else if (type instanceof TimestampNTZType) {
        return micros(LocalDateTime.parse(iso(text)).toInstant(ZoneOffset.UTC));
      } else if (type instanceof DecimalType) {
        return new BigDecimal(text);
      }
      NumberType number =
          NumberType.of(type)
              .orElseThrow(() -> new IllegalArgumentException("%s: %s".formatted(option, refusal)));
      return switch (number) {
        case BOOLEAN -> truth(text);
        case FLOAT, DOUBLE -> floating(text);
        default -> integer(new BigDecimal(text), number.natural());
      };
    } catch (NumberFormatException | DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "%s is \"%s\", not a value of %s: use a form such as %s"
              .formatted(option, given, type.sql(), example(type)),
          e);
    }
  }

  private static String iso(String text) {
    return text.replaceFirst(" ", "T").toUpperCase(Locale.ROOT);
  }

  private Instant timestamp(String text) {
    boolean hasOffset = text.matches("(?s).*(Z|z|[+-]\\d\\d:\\d\\d)");
    return hasOffset
        ? OffsetDateTime.parse(iso(text)).toInstant()
        : LocalDateTime.parse(iso(text)).atZone(zone).toInstant();
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  private static long integer(BigDecimal value, DType dtype) {
    long integer = value.longValueExact();
    if (!new NumberStore(dtype).put(ByteBuffer.allocate(Long.BYTES), 0, integer)) {
      throw new ArithmeticException(value + " is outside the range of " + dtype);
    }
    return integer;
  }

  private static boolean truth(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default -> throw new NumberFormatException(text);
    };
  }

  private static double floating(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "nan" -> Double.NaN;
      case "infinity", "+infinity" -> Double.POSITIVE_INFINITY;
      case "-infinity" -> Double.NEGATIVE_INFINITY;
      default -> finite(text);
    };
  }

  /** Returns a decimal number; {@code parseDouble} alone accepts suffixes such as {@code d}. */
  private static double finite(String text) {
    double value = new BigDecimal(text).doubleValue();
    if (Double.isInfinite(value)) {
      throw new ArithmeticException(text);
    }
    return Double.parseDouble(text);
  }

  private static byte[] binary(String option, String text) {
    try {
      return HexFormat.of().parseHex(text.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s is \"%s\", not binary: use pairs of hexadecimal digits such as 00ff7f"
              .formatted(option, text),
          e);
    }
  }

  private static String example(DataType type) {
    if (type instanceof DateType) {
      return "2024-02-29";
    } else if (type instanceof TimestampType) {
      return "2024-02-29 12:00:00 or 2024-02-29T12:00:00+01:00";
    } else if (type instanceof TimestampNTZType) {
      return "2024-02-29 12:00:00";
    } else if (type instanceof DecimalType) {
      return "-1.5";
    }
    return switch (NumberType.of(type).orElseThrow()) {
      case BOOLEAN -> "true or false";
      case FLOAT, DOUBLE -> "-1.5, 1e9 or NaN";
      case BYTE, SHORT, INT, LONG ->
          "-1, within " + new NumberStore(NumberType.of(type).orElseThrow().natural()).range();
    };
  }
}
