// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.site.LinkTarget.Broken;
import org.ddstore.site.LinkTarget.External;
import org.ddstore.site.LinkTarget.Picture;
import org.ddstore.site.LinkTarget.SourceFile;
import org.ddstore.site.LinkTarget.ToPage;

/**
 * The pages of a project: the Markdown files of its root folder, all below {@code docs}, each
 * {@code README.md} of another folder of the root, and the other Markdown files and notebooks to
 * which these link.
 */
final class Pages {
  /** The page with which a reader begins, and the page that lists the others. */
  static final String START = "README.md";

  static final String LIST = "docs/README.md";

  private static final Pattern SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*:.*");
  private static final Pattern PICTURE = Pattern.compile(".*\\.(png|svg|jpg|gif)");

  private final Path root;
  private final TreeMap<String, Page> byPath = new TreeMap<>();

  private Pages(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  /** Reads the pages of the project in a root folder. */
  static Pages read(Path root) throws IOException {
    Pages pages = new Pages(root);
    try (Stream<Path> top = Files.list(pages.root)) {
      for (Path path : top.sorted().toList()) {
        pages.add(path);
        pages.add(path.resolve("README.md"));
      }
    }
    try (Stream<Path> docs = Files.walk(pages.root.resolve("docs"))) {
      for (Path path : docs.sorted().toList()) {
        pages.add(path);
      }
    }
    pages.addLinked();
    return pages;
  }

  private void add(Path file) throws IOException {
    if (Files.isRegularFile(file) && file.toString().endsWith(".md")) {
      String path = relative(file);
      byPath.put(path, Page.parse(path, Files.readString(file)));
    }
  }

  /** Adds files by their links, because users keep notebooks of their own beside those. */
  private void addLinked() throws IOException {
    ArrayDeque<Page> next = new ArrayDeque<>(byPath.values());
    while (!next.isEmpty()) {
      Page page = next.remove();
      for (Page.Reference reference : page.references()) {
        String link = reference.target().replaceFirst("#.*", "");
        if (resolve(page, link) instanceof SourceFile file && Page.isPage(file.path())) {
          String text = Files.readString(root.resolve(file.path()));
          Page found =
              file.path().endsWith(".md")
                  ? Page.parse(file.path(), text)
                  : NotebookPage.parse(file.path(), text);
          byPath.put(file.path(), found);
          next.add(found);
        }
      }
    }
  }

  private String relative(Path file) {
    return root.relativize(file).toString().replace('\\', '/');
  }

  /** Returns the root folder of the project. */
  Path root() {
    return root;
  }

  /** Returns all pages, ordered by path. */
  Collection<Page> all() {
    return byPath.values();
  }

  /** Returns the page of a file; empty if it is none. */
  Optional<Page> find(String path) {
    return Optional.ofNullable(byPath.get(path));
  }

  /**
   * Returns the target of a link.
   *
   * @param from page that contains the link
   * @param link text of the target, as in the file
   */
  LinkTarget resolve(Page from, String link) {
    if (SCHEME.matcher(link).matches()) {
      return new External(link);
    }
    int hash = link.indexOf('#');
    String path = decode(hash < 0 ? link : link.substring(0, hash));
    String anchor = hash < 0 ? "" : decode(link.substring(hash + 1));
    if (path.isEmpty()) {
      return place(from, anchor);
    }
    Path file = root.resolve(from.folder()).resolve(path).normalize();
    if (path.startsWith("/") || !file.startsWith(root)) {
      return new Broken("it is outside of the project");
    }
    if (!Files.exists(file)) {
      return new Broken("there is no " + relative(file));
    }
    Path index = Files.isDirectory(file) ? file.resolve("README.md") : file;
    Page page = byPath.get(relative(index));
    return page == null ? other(relative(file), anchor) : place(page, anchor);
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static LinkTarget place(Page page, String anchor) {
    return anchor.isEmpty() || page.hasAnchor(anchor)
        ? new ToPage(page, anchor)
        : new Broken("%s has no heading #%s".formatted(page.path(), anchor));
  }

  private static LinkTarget other(String path, String anchor) {
    if (!anchor.isEmpty()) {
      return new Broken("%s is not a page and has no headings".formatted(path));
    }
    return PICTURE.matcher(path).matches() ? new Picture(path) : new SourceFile(path);
  }
}
