// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.util.ArrayList;
import java.util.List;

/**
 * A table as plain text and as HTML.
 *
 * @param headers lines of headers, each with a text per column
 * @param rows rows with a text per column
 */
record TextTable(List<List<String>> headers, List<List<String>> rows) {
  /** Returns the lines with columns of equal width, a line below the headers. */
  String text() {
    List<List<String>> all = new ArrayList<>(headers);
    all.addAll(rows);
    int columns = headers.isEmpty() ? 0 : headers.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : all) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < all.size(); i++) {
      appendLine(text, all.get(i), widths, " ");
      if (i == headers.size() - 1) {
        appendLine(text, headers.get(0).stream().map(name -> "").toList(), widths, "-");
      }
    }
    return text.toString().stripTrailing();
  }

  private static void appendLine(
      StringBuilder text, List<String> row, int[] widths, String filler) {
    List<String> padded = new ArrayList<>();
    for (int i = 0; i < widths.length; i++) {
      padded.add(row.get(i) + filler.repeat(widths[i] - row.get(i).length()));
    }
    text.append(String.join("  ", padded).stripTrailing()).append('\n');
  }

  /** Returns an HTML table with escaped values. */
  String html() {
    StringBuilder html = new StringBuilder("<table>\n<thead>\n");
    headers.forEach(row -> appendRow(html, row, "th"));
    html.append("</thead>\n<tbody>\n");
    rows.forEach(row -> appendRow(html, row, "td"));
    return html.append("</tbody>\n</table>").toString();
  }

  private static void appendRow(StringBuilder html, List<String> row, String tag) {
    html.append("<tr>");
    for (String value : row) {
      html.append('<').append(tag).append('>').append(escape(value));
      html.append("</").append(tag).append('>');
    }
    html.append("</tr>\n");
  }

  /** Returns text with the characters replaced that have a meaning in HTML. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
