// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.ImportSnippet;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;
import jdk.jshell.SourceCodeAnalysis.SnippetWrapper;
import jdk.jshell.SourceCodeAnalysis.Suggestion;
import jdk.jshell.VarSnippet;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellNames;
import org.ddstore.notebook.classes.CellStop;

/** The snippets of all cells, and the places of their lines. For one thread at a time. */
final class Snippets implements AutoCloseable {
  private static final String COMPILE_ERROR = "CompileError";
  private static final Pattern COMMENTS_AT_END =
      Pattern.compile("(\\s+|//[^\\n\"]*|/\\*[^*\"]*\\*/)+$");

  private static final String NOT_JAVA =
      "this looks like Python, but the cells of this notebook are Java, or SQL after %%sql:"
          + " Python is not available in notebooks yet";

  /** Python or a command of IPython, in a cell that cannot be compiled as Java. */
  private static final Pattern PYTHON =
      Pattern.compile(
          """
          \\A\\s*\\#
          | ^(
              import\\ +\\w+\\ *(,.*)?$ | import\\ +[\\w.]+\\ +as\\ .*
            | from\\ +[\\w.]+\\ +import\\ .*
            | (async\\ +)?def\\ +\\w+\\ *\\(.* | class\\ +\\w+\\ *(\\(.*\\))?\\ *:.*
            | (for\\ .*\\ in\\ .* | while\\ .* | if\\ .* | with\\ .* | try):\\ *(\\#.*)?$
            | print\\ *\\(.*\\)\\ *(\\#.*)?$ | print\\ +["'].*
            | %{1,2}\\w.* | !\\w+\\ +[\\w.-].*
          )""",
          Pattern.MULTILINE | Pattern.COMMENTS);

  private final CellClasses classes;
  private final CellControl control;
  private final JShell shell;
  private final SourceCodeAnalysis analysis;

  /**
   * The text of the cell for each line of a class around a snippet. Imports move the lines of
   * classes that are compiled later, and not those of loaded ones.
   */
  private final Map<String, List<String>> lines = new HashMap<>();

  /** The parts of cells that snippets were made of, by the ids of the snippets. */
  private final Map<String, Part> sources = new HashMap<>();

  private Set<String> kept = Set.of();

  /**
   * Opens a JShell with the class path of this JVM.
   *
   * @param classes loader of the classes of cells
   */
  Snippets(CellClasses classes) {
    this.classes = classes;
    this.control = new CellControl(classes);
    this.shell =
        JShell.builder()
            .executionEngine(new Provider(control), Map.of())
            .compilerOptions(
                "-classpath", System.getProperty("java.class.path"), "-XDdeduplicateLambdas=false")
            .build();
    this.analysis = shell.sourceCodeAnalysis();
  }

  CellControl control() {
    return control;
  }

  /**
   * A part of a cell that JShell evaluates at once.
   *
   * @param cell the cell
   * @param text source, with a final semicolon that the cell may lack
   * @param offset position in the cell
   * @param completeness whether it can be evaluated; only the last one of a cell may be illegal
   */
  private record Part(CellText cell, String text, int offset, Completeness completeness) {
    boolean isLegal() {
      return completeness.isComplete() && completeness != Completeness.UNKNOWN;
    }
  }

  private List<Part> parts(CellText cell) {
    List<Part> parts = new ArrayList<>();
    String rest = cell.code();
    CompletionInfo info = analysis.analyzeCompletion(rest);
    while (info.completeness() != Completeness.EMPTY) {
      int offset = cell.code().length() - rest.length();
      Part part = new Part(cell, info.source(), offset, info.completeness());
      if (!part.isLegal()) {
        parts.add(new Part(cell, rest, offset, info.completeness()));
        return parts;
      }
      parts.add(part);
      rest = info.remaining();
      info = analysis.analyzeCompletion(rest);
    }
    return parts;
  }

  /**
   * Returns the texts that can continue code.
   *
   * @param start receives the position that a text replaces
   */
  List<String> complete(String code, int[] start) {
    List<Part> parts = parts(new CellText(0, code));
    int offset = parts.isEmpty() ? code.length() : parts.get(parts.size() - 1).offset();
    String last = code.substring(offset);
    List<Suggestion> found = analysis.completionSuggestions(last, last.length(), start);
    start[0] += offset;
    return found.stream().map(Suggestion::continuation).distinct().toList();
  }

  /**
   * Evaluates the parts of a cell one after the other, until one fails. A syntax error is found
   * before the first part runs.
   *
   * @throws CellException if a part cannot be compiled
   * @throws Throwable what the code of a part throws
   */
  CellResult eval(CellText cell) throws Throwable {
    try {
      return evalParts(cell);
    } catch (CellException e) {
      throw PYTHON.matcher(cell.code()).find() ? new CellException("NotJava", NOT_JAVA, e) : e;
    }
  }

  private CellResult evalParts(CellText cell) throws Throwable {
    List<Part> parts = parts(cell);
    for (Part part : parts) {
      if (!part.isLegal()) {
        eval(part);
      }
    }
    CellResult last = CellResult.NONE;
    Map<Snippet, Part> declared = new HashMap<>();
    for (Part part : parts) {
      CellStop.check();
      control.reset();
      List<SnippetEvent> events = eval(part);
      if (control.failure() != null) {
        throw control.failure();
      }
      last = CellResult.NONE;
      for (SnippetEvent event : events) {
        if (event.causeSnippet() == null && isExpression(event.snippet())) {
          String code = COMMENTS_AT_END.matcher(part.text()).replaceFirst("");
          last = new CellResult(!code.endsWith(";"), control.value());
        } else if (event.causeSnippet() == null) {
          declared.put(event.snippet(), part);
        }
      }
    }
    for (Map.Entry<Snippet, Part> each : declared.entrySet()) {
      requireResolved(each.getKey(), each.getValue());
    }
    return last;
  }

  private List<SnippetEvent> eval(Part part) throws CellException {
    List<SnippetEvent> events = shell.eval(part.text());
    for (SnippetEvent event : events) {
      Snippet snippet = event.snippet();
      if (event.causeSnippet() == null) {
        if (event.status() == Snippet.Status.REJECTED) {
          throw compileError(part, snippet);
        }
        sources.put(snippet.id(), part);
      }
      if (snippet.kind() != Snippet.Kind.ERRONEOUS && snippet.kind() != Snippet.Kind.IMPORT) {
        noteLines(sources.get(snippet.id()), snippet);
      }
    }
    return events;
  }

  private static boolean isExpression(Snippet snippet) {
    return snippet.kind() == Snippet.Kind.EXPRESSION
        || snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND;
  }

  /** Notes the lines of a class when it is first seen. */
  private void noteLines(Part part, Snippet snippet) {
    SnippetWrapper wrapper = analysis.wrapper(snippet);
    if (lines.containsKey(wrapper.fullClassName())) {
      return;
    }
    String wrapped = wrapper.wrapped();
    List<String> texts = new ArrayList<>();
    int start = 0;
    for (String line : wrapped.split("\n", -1)) {
      int offset = part.offset() + source(part, wrapper, start, start + line.length());
      int within = Math.min(offset, part.cell().code().length());
      texts.add("at %s: %s".formatted(part.cell().place(within), part.cell().line(within).strip()));
      start += line.length() + 1;
    }
    lines.put(wrapper.fullClassName(), texts);
  }

  /** Returns the position in a part of the first source in a line of the class around it. */
  private static int source(Part part, SnippetWrapper wrapper, int start, int end) {
    // Code that JShell adds has the position of the source before it; positions of source grow.
    int before = -1;
    for (int i = start; i < end && !wrapper.wrapped().startsWith("import ", start); i++) {
      int source = wrapper.wrappedToSourcePosition(i);
      if (before >= 0 && source == before + 1) {
        return source;
      }
      before = source;
    }
    return part.text().indexOf(part.text().strip());
  }

  /** Returns the place and the line of a frame in a cell; empty if it is not in one. */
  Optional<String> frame(StackTraceElement frame) {
    List<String> texts = lines.get(CellNames.snippetClass(frame.getClassName()));
    int line = frame.getLineNumber();
    return texts == null || line < 1 || line > texts.size()
        ? Optional.empty()
        : Optional.of(texts.get(line - 1));
  }

  private CellException compileError(Part part, Snippet snippet) {
    String problems =
        shell
            .diagnostics(snippet)
            .filter(Diag::isError)
            .map(
                problem ->
                    part.cell()
                        .problem(
                            part.offset() + (int) problem.getStartPosition(),
                            part.offset() + (int) problem.getEndPosition(),
                            message(problem)))
            .collect(Collectors.joining("\n"));
    return new CellException(COMPILE_ERROR, problems, null);
  }

  /** Returns the message of the compiler, without the class around the snippet. */
  private static String message(Diag problem) {
    return problem.getMessage(Locale.ROOT).replaceAll("\\s*location: class\\s*$", "");
  }

  /** Throws if a declaration refers to something that no cell so far declares. */
  private void requireResolved(Snippet snippet, Part part) throws CellException {
    Snippet.Status status = shell.status(snippet);
    if (snippet instanceof DeclarationSnippet declaration
        && (status == Snippet.Status.RECOVERABLE_DEFINED
            || status == Snippet.Status.RECOVERABLE_NOT_DEFINED)) {
      String missing =
          shell.unresolvedDependencies(declaration).sorted().collect(Collectors.joining(", "));
      if (missing.isEmpty()) {
        throw compileError(part, snippet);
      }
      throw new CellException(
          COMPILE_ERROR,
          "%s: cannot find %s%n%s"
              .formatted(
                  part.cell().place(part.offset()), missing, part.cell().line(part.offset())),
          null);
    }
  }

  /** Makes {@link #reset()} keep the declarations so far. */
  void keep() {
    kept = shell.snippets().map(Snippets::declaration).collect(Collectors.toSet());
  }

  /** Forgets all declarations that are not kept. */
  void reset() {
    shell
        .snippets()
        .filter(snippet -> shell.status(snippet).isActive())
        .filter(snippet -> !kept.contains(declaration(snippet)))
        .toList()
        .forEach(shell::drop);
  }

  /** Returns the same text for an import that is repeated, which replaces the former snippet. */
  private static String declaration(Snippet snippet) {
    return snippet instanceof ImportSnippet known
        ? "%s %b".formatted(known.fullname(), known.isStatic())
        : snippet.source();
  }

  /** Gives a variable, which a cell has declared, a value. */
  void set(String name, Object value) throws ReflectiveOperationException {
    VarSnippet variable =
        shell.variables().filter(each -> each.name().equals(name)).findAny().orElseThrow();
    Class<?> around = classes.loadClass(analysis.wrapper(variable).fullClassName());
    Field field = around.getDeclaredField(name);
    field.setAccessible(true); // the class is not public
    field.set(null, value);
  }

  @Override
  public void close() {
    shell.close();
  }

  /** Gives JShell the control of this JVM. */
  private record Provider(ExecutionControl control) implements ExecutionControlProvider {
    @Override
    public String name() {
      return "cells";
    }

    @Override
    public ExecutionControl generate(ExecutionEnv environment, Map<String, String> parameters) {
      return control;
    }
  }
}
