// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.lang.reflect.Array;
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
    Elements elements = Elements.of(value);
    String text = elements == null ? String.valueOf(value) : elements.text();
    return text.length() <= MOST_LONG_CHARACTERS
        ? text
        : "%s.. (%,d %s)"
            .formatted(
                text.substring(0, MOST_LONG_CHARACTERS),
                elements == null ? text.length() : elements.size(),
                elements == null ? "characters" : "elements");
  }

  /** An array, a collection or a map, whose text is not built beyond its limit. */
  private record Elements(Iterator<?> iterator, int size, String open, String close) {
    /** Returns the elements of a value, or null if it has none. */
    static Elements of(Object value) {
      if (value != null && value.getClass().isArray()) {
        int size = Array.getLength(value);
        return new Elements(
            IntStream.range(0, size).mapToObj(i -> Array.get(value, i)).iterator(), size, "[", "]");
      }
      if (value instanceof Collection<?> many) {
        return new Elements(many.iterator(), many.size(), "[", "]");
      }
      return value instanceof Map<?, ?> map
          ? new Elements(map.entrySet().iterator(), map.size(), "{", "}")
          : null;
    }

    String text() {
      StringBuilder text = new StringBuilder(open);
      String before = "";
      while (iterator.hasNext() && text.length() <= MOST_LONG_CHARACTERS) {
        text.append(before).append(one(iterator.next()));
        before = ", ";
      }
      return iterator.hasNext() ? text.toString() : text.append(close).toString();
    }

    private static String one(Object element) {
      if (element instanceof Map.Entry<?, ?> entry) {
        return entry.getKey() + "=" + one(entry.getValue());
      }
      return element != null && element.getClass().isArray()
          ? alone(element)
          : String.valueOf(element);
    }
  }
}
