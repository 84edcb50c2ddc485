// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Snippet;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.SourceCodeAnalysis.Documentation;
import jdk.jshell.SourceCodeAnalysis.Suggestion;

/** Completions and signatures for code that is being written. For one thread at a time. */
public final class CodeAssist {
  private static final String INDENT = "  ";

  /** Begin of a method; JShell analyses the statements in it together. */
  private static final String METHOD = "void cell() throws Throwable {\n";

  private final SourceCodeAnalysis analysis;

  CodeAssist(SourceCodeAnalysis analysis) {
    this.analysis = analysis;
  }

  /**
   * The texts that can be inserted.
   *
   * @param texts texts, without repeats
   * @param start position of the first character that a text replaces
   */
  public record Completions(List<String> texts, int start) {}

  /** Returns the texts that can replace the code before the cursor. */
  public Completions complete(String code, int cursor) {
    int start = partStart(code, cursor);
    String part = code.substring(start, cursor);
    Declarations earlier = declarations(code.substring(0, start));
    int[] anchor = new int[1];
    List<Suggestion> found = analysis.completionSuggestions(part, part.length(), anchor);
    int shift = start;
    if (found.isEmpty()) {
      String method = METHOD + earlier.code();
      found =
          analysis.completionSuggestions(method + part, method.length() + part.length(), anchor);
      shift = start - method.length();
    }
    String prefix = identifierBefore(part);
    boolean isName =
        !part.substring(0, part.length() - prefix.length()).stripTrailing().endsWith(".");
    Stream<String> names =
        earlier.names().stream().filter(name -> isName && name.startsWith(prefix));
    List<String> texts =
        Stream.concat(names, found.stream().map(Suggestion::continuation)).distinct().toList();
    int from = found.isEmpty() ? cursor - prefix.length() : shift + anchor[0];
    return new Completions(texts, from);
  }

  private static String identifierBefore(String part) {
    int start = part.length();
    while (start > 0 && Character.isJavaIdentifierPart(part.charAt(start - 1))) {
      start--;
    }
    return part.substring(start);
  }

  /**
   * The declarations in parts of a cell that were not evaluated.
   *
   * @param names names of variables, methods and types
   * @param code code that a method can contain: the parts without imports and methods
   */
  private record Declarations(List<String> names, String code) {}

  private Declarations declarations(String code) {
    List<String> names = new ArrayList<>();
    StringBuilder body = new StringBuilder();
    for (SnippetSource part : SnippetSource.split(analysis, code)) {
      List<Snippet> snippets = analysis.sourceToSnippets(part.text());
      for (Snippet snippet : snippets) {
        if (snippet instanceof DeclarationSnippet declaration) {
          names.add(declaration.name());
        }
      }
      boolean isInMethod =
          snippets.stream()
              .noneMatch(
                  each -> each.kind() == Snippet.Kind.IMPORT || each.kind() == Snippet.Kind.METHOD);
      body.append(isInMethod ? part.text() + "\n" : "");
    }
    return new Declarations(names, body.toString());
  }

  /**
   * Returns the signatures of the method, variable or type at the cursor, with its documentation if
   * the source is available; empty if there is none.
   */
  public Optional<String> inspect(String code, int cursor) {
    int end = cursor;
    while (end < code.length() && Character.isJavaIdentifierPart(code.charAt(end))) {
      end++;
    }
    int from = partStart(code, cursor);
    String name = code.substring(from, end);
    String method = METHOD + declarations(code.substring(0, from)).code();
    return Stream.of(name + "(", name, method + name + "(", method + name)
        .flatMap(each -> documentation(each).stream())
        .findFirst();
  }

  private Optional<String> documentation(String code) {
    List<String> texts =
        analysis.documentation(code, code.length(), true).stream()
            .map(CodeAssist::text)
            .distinct()
            .toList();
    return texts.isEmpty() ? Optional.empty() : Optional.of(String.join("\n\n", texts));
  }

  private static String text(Documentation found) {
    return found.javadoc() == null
        ? found.signature()
        : found.signature() + "\n" + found.javadoc().strip();
  }

  /** Returns where the part of the code that contains the cursor starts. */
  private int partStart(String code, int cursor) {
    int start = 0;
    for (SnippetSource part : SnippetSource.split(analysis, code)) {
      if (part.offset() < cursor) {
        start = part.offset();
      }
    }
    return start;
  }

  /**
   * Returns whether a front end should run the code, or add a line first.
   *
   * @return empty if the code needs more lines
   */
  public Optional<Boolean> isComplete(String code) {
    for (SnippetSource part : SnippetSource.split(analysis, code)) {
      if (!part.isLegal()) {
        boolean isIllegal = part.completeness() == Completeness.UNKNOWN;
        return isIllegal ? Optional.of(false) : Optional.empty();
      }
    }
    return Optional.of(true);
  }

  /** Returns the spaces with which the next line of incomplete code begins. */
  public static String indent(String code) {
    String last = code.substring(code.lastIndexOf('\n') + 1);
    String own = last.substring(0, last.length() - last.stripLeading().length());
    return last.stripTrailing().endsWith("{") ? own + INDENT : own;
  }
}
