// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellStop;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values and errors of cells, without Spark. */
class SnippetsTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private static Path folder;
  private static Snippets snippets;

  @BeforeAll
  static void open() {
    snippets = new Snippets(new CellClasses(SnippetsTest.class.getClassLoader(), folder));
  }

  @AfterAll
  static void close() {
    snippets.close();
  }

  @AfterEach
  void clearStop() {
    CellStop.clear();
  }

  private static CellResult eval(int number, String code) throws CellException {
    return snippets.eval(new CellText(number, code));
  }

  private static CellException compileError(int number, String code) {
    return catchThrowableOfType(CellException.class, () -> eval(number, code));
  }

  private static List<String> report(int number, String code) {
    CodeFailure failure = catchThrowableOfType(CodeFailure.class, () -> eval(number, code));
    return new FailureReport(snippets::frame, snippets::holders, Optional::empty)
        .exception(failure.getCause(), failure.place())
        .report();
  }

  @Test
  void resetForgetsWhatIsNotKept(@TempDir Path other) throws CellException {
    try (Snippets own = new Snippets(new CellClasses(SnippetsTest.class.getClassLoader(), other))) {
      own.eval(new CellText(0, "import java.time.*; int kept = 1;"));
      own.keep();
      own.eval(
          new CellText(1, "import java.util.*; int x = kept; class C {} int f() { return x; }"));
      own.eval(new CellText(2, "kept = 2; List.of(new C(), f())"));

      own.reset();

      assertThat(own.eval(new CellText(3, "kept + Year.MIN_VALUE - Year.MIN_VALUE")).value())
          .isEqualTo(2);
      for (String forgotten : List.of("x", "f()", "new C()", "List.of()")) {
        assertThat(catchThrowable(() -> own.eval(new CellText(4, forgotten))))
            .as(forgotten)
            .isInstanceOf(CellException.class)
            .hasMessageContaining("cannot find symbol");
      }
      assertThat(own.eval(new CellText(5, "String x = \"new\"; x")).value()).isEqualTo("new");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 + 1 | 2",
        "int x = 2; x | 2",
        "int x = 2; x // shown ; | 2",
        "String s = \"a;\"; s + 1 | a;1",
        "int x; x = 3 | 3",
        "new int[2].length | 2"
      })
  void showsTheLastExpression(String code, String value) throws CellException {
    CellResult result = eval(1, code);
    assertThat(result.isShown()).isTrue();
    assertThat(result.value()).hasToString(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "// nothing",
        "1 + 1;",
        "1 + 1; // comment",
        "int x = 1",
        "int x = 1;",
        "import java.util.List;",
        "void m() {}",
        "1 + 1; int x = 1;",
        "for (int i = 0; i < 2; i++) { i++; }"
      })
  void showsNothingElse(String code) throws CellException {
    assertThat(eval(1, code).isShown()).isFalse();
  }

  @Test
  void variablesKeepTheirValuesAfterAnImport() throws CellException {
    eval(1, "int[] values = {1}; int get() { return values[0]; }");
    eval(2, "values[0] = 5; import java.util.concurrent.*;");
    assertThat(eval(3, "import java.util.regex.*; get()").value()).isEqualTo(5);
    assertThat(report(4, "get() / 0")).contains("    at cell 4, line 1: get() / 0");
  }

  @Test
  void compileErrorNamesThePlace() {
    CellException error = compileError(7, "int ok = 1;\n\n  int wrong = ok + missing;\n");
    assertThat(error.name()).isEqualTo("CompileError");
    assertThat(error).hasMessage("cell 7, line 3, column 20: cannot find symbol");
    assertThat(String.join("\n", error.report()))
        .isEqualTo(
            """
            cell 7, line 3, column 20: cannot find symbol
              symbol:   variable missing
              int wrong = ok + missing;
                               ^^^^^^^""");
  }

  @Test
  void syntaxErrorIsFoundBeforeTheFirstStatementRuns() throws CellException {
    eval(1, "int count = 0;");
    assertThat(compileError(2, "count++;\nfoo(;\n"))
        .hasMessage("cell 2, line 2, column 5: illegal start of expression");
    assertThat(compileError(3, "count++;\nif (true) {\n"))
        .hasMessageContaining("reached end of file while parsing");
    assertThat(eval(4, "count").value()).isEqualTo(0);
  }

  @Test
  void declarationWithUnknownNamesIsAnError() throws CellException {
    assertThat(compileError(1, "int first() { return second(); }"))
        .hasMessage("cell 1, line 1: cannot find method second()");
    eval(2, "int one() { return two(); }\nint two() { return 2; }");
    assertThat(eval(3, "one()").value()).isEqualTo(2);
  }

  @Test
  void codeThatReachesAnUnknownNameDoesNotRun() throws CellException {
    String message = "cell 2, line 1: cannot find class Unknown";
    eval(1, "int runs = 0;");
    assertThat(
            compileError(
                2,
                "int inner(int x) { return new Unknown().add(x); }\nint outer(int x) { return inner(x); }\nruns++;\nruns += outer(1);"))
        .hasMessage(message);
    assertThat(eval(3, "runs").value()).as("code before").isEqualTo(1);
    assertThat(compileError(4, "runs = 5; java.util.function.IntSupplier task = () -> outer(1);"))
        .hasMessage(message);
    eval(5, "class Unknown { int add(int x) { return x + 1; } }");
    assertThat(eval(6, "outer(1)").value()).isEqualTo(2);
  }

  @Test
  void codeCanReachNamesOfTheRestOfItsCell() throws CellException {
    eval(
        1,
        "class Early { int get() { return late() + count; } }\njava.util.function.IntSupplier task = () -> new Early().get();\nint late() { return 3; }\nint count = 4;");
    assertThat(eval(2, "new Early().get()").value()).isEqualTo(7);
  }

  @Test
  void failureNamesPlacesInAllCells() throws CellException {
    eval(1, "class Divider {\n  int by(int x) {\n    return 1 / x;\n  }\n}");
    eval(
        2,
        "import java.util.function.*;\n\nIntUnaryOperator half =\n    x -> new Divider().by(x);");
    assertThat(report(3, "int y = 1;\nhalf.applyAsInt(\n  0)"))
        .containsExactly(
            "java.lang.ArithmeticException: / by zero",
            "    at Divider.by (cell 1, line 3): return 1 / x;",
            "    at cell 2, line 4: x -> new Divider().by(x);",
            "    at cell 3, line 2: half.applyAsInt(");
  }

  @Test
  void failureNamesItsCauses() throws CellException {
    eval(1, "class Mine extends Exception { Mine(Throwable cause) { super(\"a\\nb\", cause); } }");
    assertThat(
            report(
                2,
                "try {\n  Integer.parseInt(\"z\");\n} catch (Exception e) {\n  throw new Mine(e);\n}"))
        .containsExactly(
            "Mine: a",
            "b",
            "    at cell 2, line 4: throw new Mine(e);",
            "Caused by: java.lang.NumberFormatException: For input string: \"z\"",
            "    at cell 2, line 2: Integer.parseInt(\"z\");");
  }

  @Test
  void failureOfATaskShowsItsFramesInCellsOnly() throws CellException {
    eval(1, "int half(int x) {\n  return 1 / x;\n}");
    assertThat(
            report(
                2,
                """
                try {
                  half(0);
                } catch (ArithmeticException e) {
                  String text = "Job aborted: java.lang.Error: lost\\n"
                      + "\\tat " + e.getStackTrace()[0] + "\\n"
                      + "\\tat org.apache.spark.scheduler.Task.run(Task.scala:141)\\n"
                      + "\\tat java.base/java.lang.Thread.run(Thread.java:833)\\n\\n"
                      + "Driver stacktrace:\\n\\tat driver";
                  throw new RuntimeException(text);
                }"""))
        .containsExactly(
            "java.lang.RuntimeException: Job aborted: java.lang.Error: lost",
            "    at half (cell 1, line 2): return 1 / x;",
            "    at cell 2, line 9: throw new RuntimeException(text);");
  }

  @ParameterizedTest
  @CsvSource({
    "task: java.lang.ClassNotFoundException: REPL.$JShell$3, true",
    "Cannot cast java.lang.invoke.SerializedLambda to org.ddstore.spark.RankTask, true",
    "task, false"
  })
  void tellsWhyExecutorsCannotLoadClassesOfCells(String message, boolean isTold) {
    FailureReport report =
        new FailureReport(
            snippets::frame, snippets::holders, () -> Optional.of("the reason and the remedy"));
    assertThat(report.exception(new Exception(message), Optional.empty()).report())
        .satisfies(
            lines -> assertThat(lines.contains("the reason and the remedy")).isEqualTo(isTold));
  }

  @Test
  void namesTheVariableThatCannotBeSerialized() throws CellException {
    eval(
        1,
        "Object lock = new Object(); java.io.Serializable task = (Runnable & java.io.Serializable) () -> lock.hashCode();");
    assertThat(
            report(
                2,
                "new java.io.ObjectOutputStream(java.io.OutputStream.nullOutputStream()).writeObject(task)"))
        .first()
        .isEqualTo("java.io.NotSerializableException: java.lang.Object");
    assertThat(
            report(
                3,
                "new java.io.ObjectOutputStream(java.io.OutputStream.nullOutputStream()).writeObject(task)"))
        .last()
        .asString()
        .startsWith("variable \"lock\" holds it");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "while (true) { }",
        "for (long i = 0; ; i++) { try { i--; } catch (Throwable e) { } }",
        "int down(int n) { return n < 0 ? n : down(n); } while (true) { Thread.onSpinWait(); }",
        "java.util.stream.IntStream.iterate(0, i -> 0).sum();",
        "Thread.sleep(600_000);",
        "new java.util.concurrent.CompletableFuture<String>().get();"
      })
  void endlessCodeIsInterrupted(String code) throws Exception {
    eval(1, "volatile boolean started;");
    CompletableFuture<CellResult> running =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return eval(2, "started = true; " + code);
              } catch (CellException e) {
                throw new CompletionException(e);
              }
            });
    await().atMost(LIMIT).until(() -> Boolean.TRUE.equals(snippets.get("started")));
    snippets.control().interrupt();
    await().atMost(LIMIT).until(running::isDone);
    assertThat(running).isCompletedExceptionally();

    CellStop.clear();
    assertThat(eval(3, "started").value()).as("usable afterwards").isEqualTo(true);
  }
}
