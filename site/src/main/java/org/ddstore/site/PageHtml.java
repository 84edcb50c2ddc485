// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.task.list.items.TaskListItemsExtension;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.html.HtmlWriter;
import org.ddstore.site.LinkTarget.Broken;
import org.ddstore.site.LinkTarget.External;
import org.ddstore.site.LinkTarget.Picture;
import org.ddstore.site.LinkTarget.SourceFile;
import org.ddstore.site.LinkTarget.ToPage;

/**
 * Renders the text of a page in HTML. Links to pages become links in the site, with the title of
 * the page in place of its file name. Links to other files of the project become text, names of
 * types in code become links to their Javadoc. Diagrams keep their source, which the browser
 * replaces by a drawing.
 */
final class PageHtml implements NodeRenderer {
  private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);

  /** The longest code that is kept in one line, in characters: it fits a phone. */
  private static final int LONGEST_UNBROKEN = 28;

  private final Page page;
  private final Pages pages;
  private final ApiTypes api;
  private final HtmlNodeRendererContext context;
  private final HtmlWriter html;
  private final Map<Heading, String> anchors = new HashMap<>();

  /** Number of headings and links around the current node, in which code gets no link. */
  private int plainDepth;

  private PageHtml(Page page, Pages pages, ApiTypes api, HtmlNodeRendererContext context) {
    this.page = page;
    this.pages = pages;
    this.api = api;
    this.context = context;
    html = context.getWriter();
    page.titles().forEach(title -> anchors.put(title.node(), title.anchor()));
  }

  /**
   * Returns the text of a page in HTML.
   *
   * @throws IllegalArgumentException if a link has no target
   */
  static String render(Page page, Pages pages, ApiTypes api) {
    return HtmlRenderer.builder()
        .extensions(List.of(TablesExtension.create(), TaskListItemsExtension.create()))
        .nodeRendererFactory(context -> new PageHtml(page, pages, api, context))
        .build()
        .render(page.tree());
  }

  @Override
  public Set<Class<? extends Node>> getNodeTypes() {
    return Set.of(
        Code.class,
        FencedCodeBlock.class,
        Heading.class,
        HtmlBlock.class,
        HtmlInline.class,
        Image.class,
        Link.class);
  }

  @Override
  public void render(Node node) {
    if (node instanceof Heading heading) {
      render(heading);
    } else if (node instanceof Link link) {
      render(link);
    } else if (node instanceof Image image) {
      render(image);
    } else if (node instanceof Code code) {
      render(code);
    } else if (node instanceof FencedCodeBlock block) {
      render(block);
    } else if (node instanceof HtmlBlock block) {
      html.line();
      html.raw(COMMENT.matcher(block.getLiteral()).replaceAll(""));
      html.line();
    } else {
      html.raw(COMMENT.matcher(((HtmlInline) node).getLiteral()).replaceAll(""));
    }
  }

  private void render(Heading heading) {
    String tag = "h" + heading.getLevel();
    String anchor = anchors.get(heading);
    html.line();
    html.tag(tag, Map.of("id", anchor));
    plainDepth++;
    children(heading);
    plainDepth--;
    html.tag("a", attributes("class", "anchor", "href", "#" + anchor, "title", "Link to here"));
    html.text("#");
    html.tag("/a");
    html.tag("/" + tag);
    html.line();
  }

  private void render(Link link) {
    LinkTarget target = pages.resolve(page, link.getDestination());
    String tag = target instanceof SourceFile ? "span" : "a";
    html.tag(tag, attributes(target, link.getDestination()));
    plainDepth++;
    if (target instanceof ToPage to && Page.isPage(PlainText.of(link))) {
      html.text(to.title());
    } else {
      children(link);
    }
    plainDepth--;
    html.tag("/" + tag);
  }

  private Map<String, String> attributes(LinkTarget target, String destination) {
    if (target instanceof External external) {
      return attributes("class", "external", "href", external.address(), "rel", "noopener");
    } else if (target instanceof ToPage to) {
      String anchor = to.anchor().isEmpty() ? "" : "#" + to.anchor();
      boolean isHere = to.page() == page && !anchor.isEmpty();
      return attributes("href", isHere ? anchor : href(to.page().sitePath()) + anchor);
    } else if (target instanceof Picture picture) {
      return attributes("href", href(picture.path()));
    } else if (target instanceof SourceFile file) {
      return attributes("class", "source", "title", file.path() + " in the source code");
    }
    throw broken(destination, target);
  }

  private void render(Image image) {
    String destination = image.getDestination();
    if (!(pages.resolve(page, destination) instanceof Picture picture)) {
      throw broken(destination, pages.resolve(page, destination));
    }
    html.tag("img", attributes("src", href(picture.path()), "alt", PlainText.of(image)), true);
  }

  private void render(Code code) {
    Optional<String> address = plainDepth == 0 ? api.find(code.getLiteral()) : Optional.empty();
    address.ifPresent(path -> html.tag("a", attributes("class", "api", "href", href(path))));
    boolean isLong = code.getLiteral().length() > LONGEST_UNBROKEN;
    html.tag("code", isLong ? Map.of("class", "long") : Map.of());
    html.text(code.getLiteral());
    html.tag("/code");
    address.ifPresent(path -> html.tag("/a"));
  }

  private void render(FencedCodeBlock block) {
    String info = block.getInfo() == null ? "" : block.getInfo().strip();
    String language = info.contains(" ") ? info.substring(0, info.indexOf(' ')) : info;
    html.line();
    html.tag("pre", Page.isDiagram(block) ? Map.of("class", "diagram") : Map.of());
    html.tag("code", language.isEmpty() ? Map.of() : Map.of("class", "language-" + language));
    html.text(block.getLiteral());
    html.tag("/code");
    html.tag("/pre");
    html.line();
  }

  private void children(Node parent) {
    for (Node node = parent.getFirstChild(); node != null; node = node.getNext()) {
      context.render(node);
    }
  }

  private String href(String path) {
    return SitePaths.relative(page.sitePath(), path);
  }

  private IllegalArgumentException broken(String destination, LinkTarget target) {
    String reason = target instanceof Broken broken ? broken.reason() : "it is not a picture";
    return new IllegalArgumentException("%s: %s: %s".formatted(page, destination, reason));
  }

  private static Map<String, String> attributes(String... namesAndValues) {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      attributes.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return attributes;
  }
}
