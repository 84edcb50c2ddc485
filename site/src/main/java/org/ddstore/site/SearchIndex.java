// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.HashMap;
import java.util.Map;
import org.commonmark.ext.gfm.tables.TableBody;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.node.Node;

/**
 * The index that the search of the site reads: a script that assigns an array, because browsers do
 * not let a page fetch files from a disk. Its entries are pages, {@code [path, title, sections]},
 * each with its sections, {@code [anchor, heading, text, terms]}. Terms are the short first cells
 * of tables, such as the name of a setting, which the rest of the row describes. A type of the
 * Javadoc has no sections.
 */
final class SearchIndex {
  /** The file of the index in the site. */
  static final String FILE = "search-index.js";

  private static final int LONGEST_TERM = 60;

  private final StringBuilder script = new StringBuilder("window.searchIndex = [");

  private SearchIndex() {}

  /** Returns the text of the index. */
  static String of(Pages pages, ApiTypes api) {
    SearchIndex index = new SearchIndex();
    String separator = "\n";
    for (Page page : pages.all()) {
      index.script.append(separator);
      index.add(page);
      separator = ",\n";
    }
    for (Map.Entry<String, String> type : api.paths().entrySet()) {
      index.script.append(separator).append('[');
      index.string(type.getValue()).append(", ");
      index.string(type.getKey()).append(", []]");
      separator = ",\n";
    }
    return index.script.append("\n];\n").toString();
  }

  private void add(Page page) {
    Map<Node, Page.Title> titles = new HashMap<>();
    page.titles().forEach(title -> titles.put(title.node(), title));
    script.append('[');
    string(page.sitePath()).append(", ");
    string(page.title()).append(", [");
    Page.Title section = null;
    StringBuilder text = new StringBuilder();
    StringBuilder terms = new StringBuilder();
    String separator = "";
    for (Node node = page.tree().getFirstChild(); node != null; node = node.getNext()) {
      if (titles.containsKey(node)) {
        separator = add(separator, section, text, terms);
        section = titles.get(node);
      } else if (!Page.isDiagram(node)) {
        text.append(PlainText.of(node)).append(' ');
        addTerms(node, terms);
      }
    }
    add(separator, section, text, terms);
    script.append("]]");
  }

  private static void addTerms(Node parent, StringBuilder terms) {
    for (Node node = parent.getFirstChild(); node != null; node = node.getNext()) {
      if (node instanceof TableBody) {
        addTerms(node, terms);
      } else if (node instanceof TableRow && parent instanceof TableBody) {
        String term = PlainText.of(node.getFirstChild());
        terms.append(term.length() > LONGEST_TERM ? "" : term);
      }
    }
  }

  /** Adds a section unless it is empty, and clears its words; returns the next separator. */
  private String add(
      String separator, Page.Title section, StringBuilder text, StringBuilder terms) {
    String words = words(text);
    String termWords = words(terms);
    if (section == null && words.isEmpty()) {
      return separator;
    }
    script.append(separator).append("\n[");
    string(section == null ? "" : section.anchor()).append(", ");
    string(section == null ? "" : section.text()).append(", ");
    string(words).append(", ");
    string(termWords).append(']');
    return ",";
  }

  private static String words(StringBuilder text) {
    String words = text.toString().strip().replaceAll("\\s+", " ");
    text.setLength(0);
    return words;
  }

  /** Adds a string of JSON. */
  private StringBuilder string(String value) {
    script.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        script.append('\\').append(c);
      } else if (c < ' ' || c == '\u2028' || c == '\u2029') {
        script.append("\\u%04x".formatted((int) c));
      } else {
        script.append(c);
      }
    }
    return script.append('"');
  }
}
