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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.VarSnippet;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellNames;
import org.ddstore.notebook.classes.CellStop;

/** The snippets of all cells, and the places of their declarations. For one thread at a time. */
final class Snippets implements AutoCloseable {
  private static final String COMPILE_ERROR = "CompileError";

  private final CellClasses classes;
  private final CellControl control;
  private final JShell shell;
  private final SourceCodeAnalysis analysis;

  /** Places of snippets, by the binary names of the classes around them. */
  private final Map<String, SnippetPlace> places = new HashMap<>();

  /** Parts of the cell that follow the one that runs. */
  private List<SnippetSource> later = List.of();

  private Set<Snippet> kept = Set.of();

  /**
   * Opens a JShell with the class path of this JVM.
   *
   * @param classes loader of the classes of cells
   */
  Snippets(CellClasses classes) {
    this.classes = classes;
    this.control = new CellControl(classes, this::checkReachable);
    this.shell =
        JShell.builder()
            .executionEngine(new Provider(control), Map.of())
            .compilerOptions("-classpath", System.getProperty("java.class.path"))
            .build();
    this.analysis = shell.sourceCodeAnalysis();
  }

  CellControl control() {
    return control;
  }

  SourceCodeAnalysis analysis() {
    return analysis;
  }

  /**
   * Evaluates the parts of a cell one after the other, until one fails. A syntax error is found
   * before the first part runs.
   *
   * @throws CellException if a part cannot be compiled, or can reach a name that no cell declares
   * @throws CodeFailure if the code of a part throws
   */
  CellResult eval(CellText cell) throws CellException {
    List<SnippetSource> parts = SnippetSource.split(analysis, cell.code());
    for (SnippetSource part : parts) {
      if (!part.isLegal()) {
        eval(cell, part);
      }
    }
    CellResult last = CellResult.NONE;
    for (int i = 0; i < parts.size(); i++) {
      CellStop.check();
      later = parts.subList(i + 1, parts.size());
      last = eval(cell, parts.get(i));
    }
    for (SnippetPlace place : List.copyOf(places.values())) {
      if (place.cell().equals(cell)) {
        checkResolved(place);
      }
    }
    return last;
  }

  private CellResult eval(CellText cell, SnippetSource part) throws CellException {
    control.reset();
    CellResult result = CellResult.NONE;
    for (SnippetEvent event : shell.eval(part.text())) {
      Snippet snippet = event.snippet();
      notePlace(snippet, cell, part, event.causeSnippet() == null);
      if (event.causeSnippet() != null) {
        continue; // an earlier snippet, compiled again
      }
      if (event.status() == Snippet.Status.REJECTED) {
        throw compileError(cell, part, shell.diagnostics(snippet).filter(Diag::isError).toList());
      }
      if (control.failure() instanceof CellException unresolved) {
        throw unresolved;
      }
      if (control.failure() != null) {
        throw new CodeFailure(control.failure());
      }
      if (event.exception() != null) {
        throw new CodeFailure(event.exception());
      }
      if (isExpression(snippet)) {
        result = new CellResult(!part.endsWithSemicolon(), control.value());
      }
    }
    return result;
  }

  private static boolean isExpression(Snippet snippet) {
    return snippet.kind() == Snippet.Kind.EXPRESSION
        || snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND;
  }

  private void notePlace(Snippet snippet, CellText cell, SnippetSource part, boolean isNew) {
    if (snippet.kind() == Snippet.Kind.ERRONEOUS || snippet.kind() == Snippet.Kind.IMPORT) {
      return;
    }
    SourceCodeAnalysis.SnippetWrapper wrapper = analysis.wrapper(snippet);
    if (isNew) {
      places.put(wrapper.fullClassName(), SnippetPlace.of(cell, part, snippet, wrapper));
    } else {
      places.values().stream()
          .filter(place -> place.snippet().id().equals(snippet.id()))
          .findAny()
          .ifPresent(
              known ->
                  places.put(
                      wrapper.fullClassName(),
                      SnippetPlace.of(known.cell(), known.part(), snippet, wrapper)));
    }
  }

  private static CellException compileError(
      CellText cell, SnippetSource part, List<Diag> problems) {
    List<String> report = new ArrayList<>();
    for (Diag problem : problems) {
      int start = part.offset() + (int) problem.getStartPosition();
      int end = part.offset() + (int) problem.getEndPosition();
      report.add(cell.place(start) + ": " + message(problem));
      report.add(cell.line(start));
      report.add(cell.carets(start, end));
    }
    String first = report.isEmpty() ? "the code cannot be compiled" : report.get(0);
    return new CellException(COMPILE_ERROR, first.lines().findFirst().orElse(""), report, null);
  }

  /** Returns the message of the compiler, without the class around the snippet. */
  private static String message(Diag problem) {
    return String.join(
        "\n",
        problem
            .getMessage(Locale.ROOT)
            .lines()
            .filter(line -> !line.strip().equals("location: class"))
            .toList());
  }

  /** Throws if a declaration refers to something that no cell so far declares. */
  private void checkResolved(SnippetPlace place) throws CellException {
    Snippet snippet = place.snippet();
    CellText cell = place.cell();
    SnippetSource part = place.part();
    Snippet.Status status = shell.status(snippet);
    boolean isUnresolved =
        status == Snippet.Status.RECOVERABLE_DEFINED
            || status == Snippet.Status.RECOVERABLE_NOT_DEFINED;
    if (isUnresolved && snippet instanceof DeclarationSnippet) {
      String missing = String.join(", ", missing(snippet).toList());
      List<Diag> problems = shell.diagnostics(snippet).filter(Diag::isError).toList();
      if (missing.isEmpty()) {
        throw compileError(cell, part, problems);
      }
      String message = "%s: cannot find %s".formatted(cell.linePlace(part.offset()), missing);
      throw new CellException(
          COMPILE_ERROR, message, List.of(message, cell.line(part.offset())), null);
    }
  }

  /**
   * Throws if code that is to run can reach a declaration with a name that neither a cell so far
   * nor the rest of this one declares. Executors would report it only after all attempts of a task.
   */
  private void checkReachable(String className) throws CellException {
    for (String unresolved : classes.unresolved(className)) {
      SnippetPlace place = places.get(unresolved);
      if (place != null && !isDeclaredLater(place.snippet())) {
        checkResolved(place);
      }
    }
  }

  /** Returns whether the rest of the cell declares all unknown names of a declaration. */
  private boolean isDeclaredLater(Snippet snippet) {
    Set<String> names =
        later.stream()
            .flatMap(part -> analysis.sourceToSnippets(part.text()).stream())
            .filter(DeclarationSnippet.class::isInstance)
            .map(declaration -> ((DeclarationSnippet) declaration).name())
            .collect(Collectors.toSet());
    List<String> missing = missing(snippet).map(Snippets::simpleName).toList();
    return !missing.isEmpty() && names.containsAll(missing);
  }

  /** Returns descriptions of the unknown names of a declaration. */
  private Stream<String> missing(Snippet snippet) {
    return snippet instanceof DeclarationSnippet declaration
        ? shell.unresolvedDependencies(declaration).sorted()
        : Stream.empty();
  }

  /** Returns the name in a description such as {@code method f(int)} or {@code class C}. */
  private static String simpleName(String described) {
    return described.replaceFirst("^\\w+ ", "").replaceFirst("\\(.*", "");
  }

  /** Makes {@link #reset()} keep the declarations so far. */
  void keep() {
    kept = shell.snippets().collect(Collectors.toSet());
  }

  /** Forgets all declarations that are not kept. */
  void reset() {
    shell
        .snippets()
        .filter(snippet -> shell.status(snippet).isActive())
        .filter(snippet -> !kept.contains(snippet))
        .toList()
        .forEach(shell::drop);
    places.clear();
  }

  /** Returns the frame of a class of a cell; empty if it is another class. */
  Optional<CellFrame> frame(String className, String methodName, int line) {
    if (!CellNames.isOfCell(className)) {
      return Optional.empty();
    }
    return Optional.ofNullable(places.get(CellNames.snippetClass(className)))
        .map(place -> CellFrame.of(className, methodName, place, line));
  }

  /** Returns the names of the variables whose values are of a class. */
  Stream<String> holders(String className) {
    return shell
        .variables()
        .filter(variable -> shell.status(variable) == Snippet.Status.VALID)
        .filter(variable -> className.equals(className(variable)))
        .map(VarSnippet::name);
  }

  private String className(VarSnippet variable) {
    try {
      Object value = field(variable).get(null);
      return value == null ? "" : value.getClass().getName();
    } catch (ReflectiveOperationException e) {
      return "";
    }
  }

  /** Gives a variable, which a cell has declared, a value. */
  void set(String name, Object value) throws ReflectiveOperationException {
    field(variable(name)).set(null, value);
  }

  /** Returns the value of a variable. */
  Object get(String name) throws ReflectiveOperationException {
    return field(variable(name)).get(null);
  }

  private VarSnippet variable(String name) {
    return shell
        .variables()
        .filter(each -> each.name().equals(name))
        .filter(each -> shell.status(each) == Snippet.Status.VALID)
        .findAny()
        .orElseThrow(() -> new IllegalArgumentException("no variable \"%s\"".formatted(name)));
  }

  private Field field(VarSnippet variable) throws ReflectiveOperationException {
    Class<?> around = classes.loadClass(analysis.wrapper(variable).fullClassName());
    Field field = around.getDeclaredField(variable.name());
    field.setAccessible(true); // the class is not public
    return field;
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
