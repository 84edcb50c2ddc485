// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.commonmark.ext.autolink.AutolinkExtension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.IdGenerator;
import org.commonmark.ext.task.list.items.TaskListItemsExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/**
 * A page in Markdown, or of a {@link NotebookPage notebook}: its tree, its headings with their
 * anchors, its links and its code. Anchors are made as the usual hosts of repositories make them.
 */
final class Page {
  private static final Parser PARSER =
      Parser.builder()
          .extensions(
              List.of(
                  AutolinkExtension.create(),
                  TablesExtension.create(),
                  TaskListItemsExtension.create()))
          .includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES)
          .build();

  private static final Pattern ANCHOR_IN_HTML = Pattern.compile("\\b(?:id|name)=\"([^\"]+)\"");
  private static final Pattern SUFFIX = Pattern.compile("(?<=\\.)(md|ipynb)$");
  private static final Pattern INDEX = Pattern.compile("(^|/)README\\.md$");

  /**
   * A heading with its anchor.
   *
   * @param level level, from 1
   * @param text text without markup
   * @param anchor anchor, unique in its page
   * @param node place in the tree
   */
  record Title(int level, String text, String anchor, Heading node) {}

  /**
   * A link or an image.
   *
   * @param target text of its target, as in the file
   * @param line line in the file, from 1
   */
  record Reference(String target, int line) {}

  private final String path;
  private final Node tree;
  private final List<Title> titles = new ArrayList<>();
  private final List<Reference> references = new ArrayList<>();
  private final Set<String> anchors = new LinkedHashSet<>();
  private boolean hasDiagrams;

  private Page(String path, Node tree) {
    this.path = path;
    this.tree = tree;
  }

  /**
   * Returns the page of a text.
   *
   * @param path path of its file below the root folder of the project
   */
  static Page parse(String path, String text) {
    return of(path, parseTree(text));
  }

  /** Returns the tree of a text. */
  static Node parseTree(String text) {
    return PARSER.parse(text);
  }

  /**
   * Returns the page of a tree.
   *
   * @param path path of its file below the root folder of the project
   */
  static Page of(String path, Node tree) {
    Page page = new Page(path, tree);
    tree.accept(page.new Collector());
    return page;
  }

  /** Returns whether the name of a file is that of a page. */
  static boolean isPage(String path) {
    return SUFFIX.matcher(path).find();
  }

  /** Returns the path of the file below the root folder of the project. */
  String path() {
    return path;
  }

  /** Returns the path of the folder of the file, without a slash at its end; empty for the root. */
  String folder() {
    return path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : "";
  }

  /** Returns the path in the site, of a file in HTML. */
  String sitePath() {
    Matcher index = INDEX.matcher(path);
    return index.find()
        ? index.replaceFirst("$1index.html")
        : SUFFIX.matcher(path).replaceFirst("html");
  }

  /** Returns the text of the first heading, or the path of a page without any. */
  String title() {
    return titles.isEmpty() ? path : titles.get(0).text();
  }

  /** Returns whether the file is a notebook. */
  boolean isNotebook() {
    return path.endsWith(".ipynb");
  }

  Node tree() {
    return tree;
  }

  List<Title> titles() {
    return titles;
  }

  List<Reference> references() {
    return references;
  }

  boolean hasAnchor(String anchor) {
    return anchors.contains(anchor);
  }

  /** Returns whether the page contains a diagram. */
  boolean hasDiagrams() {
    return hasDiagrams;
  }

  /** Returns whether a node is the source of a diagram, which the browser draws. */
  static boolean isDiagram(Node node) {
    return node instanceof FencedCodeBlock block && "mermaid".equals(block.getInfo());
  }

  /** Returns the line of a node in the file, or that of the nearest node around it; from 1. */
  static int line(Node node) {
    Node place = node;
    while (place.getSourceSpans().isEmpty() && place.getParent() != null) {
      place = place.getParent();
    }
    return place.getSourceSpans().isEmpty() ? 1 : place.getSourceSpans().get(0).getLineIndex() + 1;
  }

  @Override
  public String toString() {
    return path;
  }

  /** A visitor that fills the lists of the page. */
  private final class Collector extends AbstractVisitor {
    private final IdGenerator ids = IdGenerator.builder().build();

    @Override
    public void visit(Heading heading) {
      String text = PlainText.of(heading).strip();
      Title title = new Title(heading.getLevel(), text, ids.generateId(text), heading);
      titles.add(title);
      anchors.add(title.anchor());
      visitChildren(heading);
    }

    @Override
    public void visit(Link link) {
      references.add(new Reference(link.getDestination(), line(link)));
      visitChildren(link);
    }

    @Override
    public void visit(Image image) {
      references.add(new Reference(image.getDestination(), line(image)));
    }

    @Override
    public void visit(FencedCodeBlock block) {
      hasDiagrams |= isDiagram(block);
    }

    @Override
    public void visit(HtmlBlock block) {
      addAnchors(block.getLiteral());
    }

    @Override
    public void visit(HtmlInline inline) {
      addAnchors(inline.getLiteral());
    }

    private void addAnchors(String html) {
      Matcher matcher = ANCHOR_IN_HTML.matcher(html);
      while (matcher.find()) {
        anchors.add(matcher.group(1));
      }
    }
  }
}
