// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/** Values as short text. */
final class ValueText {
  private static final int MOST_ELEMENTS = 6;
  private static final int MOST_BYTES = 8;
  private static final int MOST_CHARACTERS = 80;
  private static final int MOST_LONG_CHARACTERS = 10_000;

  private ValueText() {}

  /** Returns the text of a value in a table: the first elements of arrays, the start of strings. */
  static String inTable(Object value) {
    if (value instanceof byte[] bytes) {
      String begin = HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, MOST_BYTES));
      return bytes.length > MOST_BYTES ? "%s.. (%,d bytes)".formatted(begin, bytes.length) : begin;
    }
    if (value instanceof scala.collection.Iterable<?> elements) {
      return value instanceof scala.collection.Map<?, ?> map
          ? shortened(String.valueOf(CollectionConverters.asJava(map)))
          : elements(CollectionConverters.asJavaCollection(elements));
    }
    if (value instanceof Row row) {
      return IntStream.range(0, row.length())
          .mapToObj(i -> inTable(row.get(i)))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    return shortened(String.valueOf(value));
  }

  private static String elements(Collection<?> elements) {
    String begin =
        elements.stream()
            .limit(MOST_ELEMENTS)
            .map(ValueText::inTable)
            .collect(Collectors.joining(", "));
    return elements.size() > MOST_ELEMENTS
        ? "[%s, .. (%,d)]".formatted(begin, elements.size())
        : "[%s]".formatted(begin);
  }

  private static String shortened(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "..";
  }

  /** Returns the text of a value that is shown alone, cut after 10,000 characters. */
  static String alone(Object value) {
    String text = value != null && value.getClass().isArray() ? array(value) : collection(value);
    return text.length() <= MOST_LONG_CHARACTERS
        ? text
        : "%s.. (%,d characters)".formatted(text.substring(0, MOST_LONG_CHARACTERS), text.length());
  }

  private static String array(Object array) {
    int length = Array.getLength(array);
    int shown = Math.min(length, MOST_LONG_CHARACTERS);
    Object[] begin = new Object[shown];
    Arrays.setAll(begin, i -> Array.get(array, i));
    return Arrays.deepToString(begin) + (shown < length ? ".. (%,d)".formatted(length) : "");
  }

  /** Returns the text of a collection without building that of all elements of a large one. */
  private static String collection(Object value) {
    boolean isLarge =
        (value instanceof Collection<?> many && many.size() > MOST_LONG_CHARACTERS)
            || (value instanceof Map<?, ?> map && map.size() > MOST_LONG_CHARACTERS);
    if (!isLarge) {
      return String.valueOf(value);
    }
    Iterator<?> elements =
        value instanceof Map<?, ?> map
            ? map.entrySet().iterator()
            : ((Collection<?>) value).iterator();
    StringBuilder text = new StringBuilder("[");
    while (elements.hasNext() && text.length() <= MOST_LONG_CHARACTERS) {
      text.append(elements.next()).append(", ");
    }
    return text.toString();
  }
}
