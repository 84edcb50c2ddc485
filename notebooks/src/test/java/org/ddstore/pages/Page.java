// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page in Markdown: its blocks of code with what its comments tell about them, and the code in
 * its sections. CONTRIBUTING.md describes the comments.
 */
final class Page {
  static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  private static final String FENCE = "```";
  private static final String OUTPUT = "text";
  private static final Pattern COMMENT = Pattern.compile("(?s)<!--\\s*(.*?)\\s*-->\\s*");
  private static final Pattern NOT_RUN = Pattern.compile("(?s)not run:\\s*(.*)");
  private static final Pattern SET_UP = Pattern.compile("(?s)set-up \\((\\w+)\\)\n(.*)");
  private static final String DIFFERS = "output: differs";
  private static final Pattern HEADING = Pattern.compile("#{1,6} (.*)");

  /**
   * A block of code, or set-up that the page hides.
   *
   * @param line line of the file, from 1
   * @param reason why the block is not run; empty if it is
   */
  record Block(
      Page page,
      int line,
      String language,
      String code,
      Optional<String> reason,
      Optional<PageOutput> output) {
    boolean isShell() {
      return language.equals("shell") || language.equals("bash");
    }

    boolean runs() {
      return reason.isEmpty() && (isShell() || language.equals("java") || language.equals("sql"));
    }

    @Override
    public String toString() {
      return "%s:%d".formatted(page, line);
    }
  }

  private final String path;
  private final List<String> lines;
  private final List<Block> blocks = new ArrayList<>();
  private final Map<String, PageCode> sections = new LinkedHashMap<>();
  private PageCode section = new PageCode();

  /** Reason why the next block is not run; null if no comment gives one. */
  private String reason;

  /** Whether numbers of the next output differ between runs. */
  private boolean differs;

  /** Whether the next output belongs to the last block. */
  private boolean awaitsOutput;

  /**
   * Reads a page. The output of a block is the next block in the same section, if its language is
   * {@code text}.
   *
   * @throws IllegalArgumentException if no block follows a comment, or the comment is unknown
   */
  Page(String path, String text) {
    this.path = path;
    lines = text.lines().toList();
    sections.put("", section);
    int next = 0;
    while (next < lines.size()) {
      next = read(next, lines.get(next).strip());
    }
    endSection(lines.size());
  }

  /** Returns the pages of the root folder, of docs and of notebooks, without notebooks. */
  static List<Page> all() throws IOException {
    List<Page> pages = new ArrayList<>();
    for (String folder : List.of("", "docs", "notebooks")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(folder), folder.equals("docs") ? 9 : 1)) {
        for (Path file : files.filter(each -> each.toString().endsWith(".md")).sorted().toList()) {
          pages.add(new Page(ROOT.relativize(file).toString(), Files.readString(file)));
        }
      }
    }
    return pages;
  }

  /** Reads what begins at a line, and returns the number of the line after it. */
  private int read(int start, String line) {
    int end = start;
    Matcher heading = HEADING.matcher(line);
    if (line.startsWith(FENCE)) {
      do {
        end++;
      } while (!lines.get(end).strip().equals(FENCE));
      readBlock(start, end, line.substring(FENCE.length()).strip());
    } else if (line.startsWith("<!--")) {
      while (!lines.get(end).contains("-->")) {
        end++;
      }
      readComment(start, String.join("\n", lines.subList(start, end + 1)).strip());
    } else if (heading.matches()) {
      endSection(start);
      section = sections.computeIfAbsent(heading.group(1).replace("`", ""), key -> new PageCode());
    } else {
      section.addLine(line);
    }
    return end + 1;
  }

  private void readBlock(int start, int end, String language) {
    int indent = lines.get(start).indexOf(FENCE);
    String code =
        String.join(
            "",
            lines.subList(start + 1, end).stream()
                .map(line -> line.substring(Math.min(indent, line.length())) + "\n")
                .toList());
    if (language.equals(OUTPUT) && awaitsOutput) {
      PageOutput output = new PageOutput(code, differs, start + 1, end - start - 1, indent);
      Block last = blocks.remove(blocks.size() - 1);
      blocks.add(
          new Block(this, last.line, last.language, last.code, last.reason, Optional.of(output)));
      section.add(code);
      awaitsOutput = false;
      differs = false;
      return;
    }
    if (differs) {
      throw illegal(start, "a comment about an output before a block that is none");
    }
    add(start, language, code);
    awaitsOutput = !language.equals(OUTPUT);
  }

  private void add(int start, String language, String code) {
    Optional<String> notRun = Optional.ofNullable(reason);
    blocks.add(new Block(this, start + 2, language, code, notRun, Optional.empty()));
    section.add(code);
    reason = null;
  }

  private void readComment(int start, String text) {
    Matcher comment = COMMENT.matcher(text);
    if (!comment.matches()) {
      return;
    }
    Matcher notRun = NOT_RUN.matcher(comment.group(1));
    Matcher setUp = SET_UP.matcher(comment.group(1));
    if (notRun.matches()) {
      reason = notRun.group(1);
    } else if (setUp.matches()) {
      add(start, setUp.group(1), setUp.group(2));
    } else if (comment.group(1).equals(DIFFERS)) {
      differs = true;
    } else if (comment.group(1).startsWith("output:")) {
      throw illegal(start, "\"%s\", legal: %s".formatted(comment.group(1), DIFFERS));
    }
  }

  private void endSection(int line) {
    if (reason != null || differs) {
      throw illegal(line, "no block follows the comment before this line");
    }
    awaitsOutput = false;
  }

  private IllegalArgumentException illegal(int line, String problem) {
    return new IllegalArgumentException("%s:%d: %s".formatted(path, line + 1, problem));
  }

  /** Returns the path of the file below the root folder of the project. */
  String path() {
    return path;
  }

  List<Block> blocks() {
    return blocks;
  }

  /** Returns the code of each section, without its subsections, by heading. */
  Map<String, PageCode> sections() {
    return sections;
  }

  /** Returns the code of the page, in its blocks and its sentences. */
  List<String> code() {
    return sections.values().stream().flatMap(part -> part.code().stream()).toList();
  }

  /** Returns where a pattern is found in the code of the page. */
  List<MatchResult> find(Pattern pattern) {
    return code().stream().flatMap(text -> pattern.matcher(text).results()).toList();
  }

  @Override
  public String toString() {
    return path;
  }
}
