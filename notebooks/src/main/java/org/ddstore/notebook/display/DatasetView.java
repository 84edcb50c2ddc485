// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructField;
import org.ddstore.types.Plural;

/** The first rows of a DataFrame, with the types of the columns. */
final class DatasetView {
  private static final int MOST_ROWS = 20;
  private static final int MOST_TYPE_CHARACTERS = 60;

  private DatasetView() {}

  /** Runs a Spark job for the rows, but not for a stream. */
  static MimeBundle render(Dataset<?> frame) {
    StructField[] fields = frame.schema().fields();
    List<List<String>> headers =
        List.of(
            Stream.of(fields).map(StructField::name).toList(),
            Stream.of(fields).map(DatasetView::type).toList());
    if (frame.isStreaming()) {
      return bundle(new TextTable(headers, List.of()), "a stream: start a query to see rows");
    }
    List<Row> found = frame.toDF().takeAsList(MOST_ROWS + 1);
    List<List<String>> rows = new ArrayList<>();
    for (Row row : found.subList(0, Math.min(found.size(), MOST_ROWS))) {
      rows.add(
          IntStream.range(0, row.length()).mapToObj(i -> ValueText.inTable(row.get(i))).toList());
    }
    String note =
        found.size() > MOST_ROWS
            ? "the first %d rows; there are more".formatted(MOST_ROWS)
            : Plural.of(rows.size(), "row");
    return bundle(new TextTable(headers, rows), note);
  }

  private static MimeBundle bundle(TextTable table, String note) {
    return MimeBundle.html(
        table.text() + "\n" + note, table.html() + "\n<p>" + TextTable.escape(note) + "</p>");
  }

  private static String type(StructField field) {
    String type = field.dataType().simpleString();
    return type.length() <= MOST_TYPE_CHARACTERS
        ? type
        : type.substring(0, MOST_TYPE_CHARACTERS) + "..";
  }
}
