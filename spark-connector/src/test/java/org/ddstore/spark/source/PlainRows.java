// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;

/**
 * Rows as lists that are equal if all their values are, bit for bit but for the kind of NaN: rows
 * of Spark with NaN inside arrays, or with binary inside structs, equal nothing.
 */
public final class PlainRows {
  private PlainRows() {}

  public static List<Object> of(List<Row> rows) {
    List<Object> plain = new ArrayList<>();
    rows.forEach(row -> plain.add(of(row)));
    return plain;
  }

  private static Object of(Object value) {
    if (value instanceof Row row) {
      List<Object> fields = new ArrayList<>();
      for (int i = 0; i < row.size(); i++) {
        fields.add(of(row.get(i)));
      }
      return fields;
    } else if (value instanceof scala.collection.Iterable<?> many) {
      List<Object> elements = new ArrayList<>();
      scala.collection.Iterator<?> each = many.iterator();
      while (each.hasNext()) {
        elements.add(of(each.next()));
      }
      return elements;
    }
    return value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value;
  }
}
