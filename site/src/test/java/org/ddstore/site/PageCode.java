// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.commonmark.ext.gfm.tables.TableBody;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;

/** The code in a part of a page: names in the text, and blocks. */
final class PageCode extends AbstractVisitor {
  private final List<String> code = new ArrayList<>();
  private final List<String> firstCells = new ArrayList<>();
  private final List<String> links = new ArrayList<>();

  private PageCode() {}

  /** Returns the code in pages. */
  static PageCode of(List<Page> pages) {
    PageCode all = new PageCode();
    pages.forEach(page -> page.tree().accept(all));
    return all;
  }

  /** Returns the code in each section of a page, without its subsections, by heading. */
  static Map<String, PageCode> sections(Page page) {
    Map<String, PageCode> sections = new LinkedHashMap<>();
    PageCode section = new PageCode();
    for (Node node = page.tree().getFirstChild(); node != null; node = node.getNext()) {
      if (node instanceof Heading) {
        section = new PageCode();
        sections.put(PlainText.of(node).strip(), section);
      } else {
        node.accept(section);
      }
    }
    return sections;
  }

  /** Returns whether the code contains a name that is not a part of a longer one. */
  boolean names(String name) {
    String end = name.endsWith(".") ? "" : "(?!\\w)";
    Pattern pattern = Pattern.compile("(?<![\\w.])" + Pattern.quote(name) + end);
    return code.stream().anyMatch(text -> pattern.matcher(text).find());
  }

  /** Returns the names in the text and the blocks, in the order of the pages. */
  List<String> texts() {
    return code;
  }

  /** Returns the code in the first cells of the rows of tables. */
  List<String> firstCells() {
    return firstCells;
  }

  /** Returns the targets of links. */
  List<String> links() {
    return links;
  }

  @Override
  public void visit(Code node) {
    code.add(node.getLiteral());
  }

  @Override
  public void visit(FencedCodeBlock node) {
    code.add(node.getLiteral());
  }

  @Override
  public void visit(IndentedCodeBlock node) {
    code.add(node.getLiteral());
  }

  @Override
  public void visit(Link node) {
    links.add(node.getDestination());
    visitChildren(node);
  }

  @Override
  public void visit(CustomNode node) {
    if (node instanceof TableRow && node.getParent() instanceof TableBody) {
      PageCode cell = new PageCode();
      node.getFirstChild().accept(cell);
      firstCells.addAll(cell.code);
    }
    visitChildren(node);
  }
}
