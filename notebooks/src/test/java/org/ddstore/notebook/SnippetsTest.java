// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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

  /** Evaluates a cell of {@code snippets}. */
  static CellResult eval(Snippets snippets, int number, String code) throws Exception {
    try {
      return snippets.eval(new CellText(number, code));
    } catch (Error e) {
      throw e;
    } catch (Throwable e) {
      throw (Exception) e;
    }
  }

  private static CellResult eval(int number, String code) throws Exception {
    return eval(snippets, number, code);
  }

  private static String report(int number, String code) {
    Throwable failure = catchThrowable(() -> eval(number, code));
    CellException reported =
        failure instanceof CellException known ? known : CellException.of(failure, snippets::frame);
    return String.join("\n", reported.report());
  }

  @Test
  void resetForgetsWhatIsNotKept() throws Exception {
    eval(0, "import java.time.*; int kept = 1;");
    snippets.keep();
    eval(
        1,
        "import java.time.*; import java.util.*; int x = kept; class C {} int f() { return x; }");
    eval(2, "kept = 2; List.of(new C(), f())");

    snippets.reset();

    assertThat(eval(3, "kept + Year.MIN_VALUE - Year.MIN_VALUE").value()).isEqualTo(2);
    for (String forgotten : List.of("x", "f()", "new C()", "List.of()")) {
      assertThat(report(4, forgotten)).contains("cannot find symbol");
    }
    assertThat(eval(5, "String x = \"new\"; x").value()).isEqualTo("new");
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
  void showsTheLastExpression(String code, String value) throws Exception {
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
        "import java.util.List;",
        "void m() {}",
        "1 + 1; int x = 1;",
        "for (int i = 0; i < 2; i++) { i++; }"
      })
  void showsNothingElse(String code) throws Exception {
    assertThat(eval(1, code).isShown()).isFalse();
  }

  @Test
  void variablesKeepTheirValuesAndPlacesAfterAnImport() throws Exception {
    eval(1, "int[] values = {1};\nint get(int by) {\n  return values[0] / by;\n}");
    eval(2, "values[0] = 5; import java.util.concurrent.*;");
    assertThat(eval(3, "import java.util.regex.*; get(1)").value()).isEqualTo(5);
    assertThat(report(4, "get(0)"))
        .isEqualTo(
            """
            java.lang.ArithmeticException: / by zero
                at cell 1, line 3: return values[0] / by;
                at cell 4, line 1: get(0)""");
  }

  @Test
  void compileErrorNamesThePlace() {
    assertThat(report(7, "int ok = 1;\n\n  int wrong = ok + missing;\n"))
        .isEqualTo(
            """
            cell 7, line 3, column 20: cannot find symbol
              symbol:   variable missing
              int wrong = ok + missing;
                               ^^^^^^^""");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import numpy as np",
        "import numpy",
        "import os, sys\nprint(os.name)",
        "from pyspark.sql import SparkSession",
        "def f(x):\n    return x",
        "class A(B):\n    pass",
        "x = np.zeros(3)\nprint(x)",
        "print(\"x\")",
        "print 'x'",
        "# load\ndata = 3",
        "for x in range(3):\n    print(x)",
        "if x > 1:\n    x = 2",
        "%pip install numpy",
        "%%time\n1",
        "!pip install numpy"
      })
  void pythonIsAnsweredWithOneSentence(String code) {
    assertThat(report(1, code))
        .contains("looks like Python", "Java", "not available")
        .doesNotContain("\n");
  }

  @Test
  void errorsOfJavaAreThoseOfTheCompiler() throws Exception {
    assertThat(report(1, "import java.util.Lisst")).contains("cannot find symbol");
    assertThat(report(1, "boolean b = !missing;")).contains("cannot find symbol");
    assertThat(report(1, "for (int missing : in) { }")).contains("cannot find symbol");
    eval(2, "void print(int x) {}");
    assertThat(eval(3, "print(1)").isShown()).isFalse();
    eval(4, "import java.util.zip.CRC32");
  }

  @Test
  void syntaxErrorIsFoundBeforeTheFirstStatementRuns() throws Exception {
    eval(1, "int count = 0;");
    assertThat(report(2, "count++;\nfoo(;\n"))
        .startsWith("cell 2, line 2, column 5: illegal start of expression");
    assertThat(report(3, "count++;\nif (true) {\n")).contains("reached end of file while parsing");
    assertThat(eval(4, "count").value()).isEqualTo(0);
  }

  @Test
  void declarationWithUnknownNamesIsAnError() throws Exception {
    assertThat(report(1, "int first(int x) {\n  return second() / x;\n}"))
        .startsWith("cell 1, line 1: cannot find method second()");
    eval(2, "int one() { return two(); }\nint two() { return 2; }");
    assertThat(eval(3, "one()").value()).isEqualTo(2);
    assertThat(eval(4, "int second() { return 7; }\nfirst(1)").value()).isEqualTo(7);
    assertThat(report(5, "first(0)")).contains("at cell 1, line 2: return second() / x;");
  }

  @Test
  void failureNamesPlacesInAllCellsAndCauses() throws Exception {
    eval(1, "class Mine extends Exception { Mine(Throwable cause) { super(\"a\\nb\", cause); } }");
    eval(2, "class Divider {\n  int by(int x) {\n    return 1 / x;\n  }\n}");
    eval(
        3,
        "import java.util.function.*;\n\nIntUnaryOperator half =\n    x -> new Divider().by(x);");
    assertThat(
            report(
                4,
                "try {\n  half.applyAsInt(\n  0);\n} catch (Exception e) {\n  throw new Mine(e);\n}"))
        .isEqualTo(
            """
            Mine: a
            b
                at cell 4, line 5: throw new Mine(e);
            Caused by: java.lang.ArithmeticException: / by zero
                at cell 2, line 3: return 1 / x;
                at cell 3, line 4: x -> new Divider().by(x);
                at cell 4, line 2: half.applyAsInt(""");
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
    eval(
        1,
        "java.util.concurrent.CountDownLatch begun = new java.util.concurrent.CountDownLatch(1);");
    Object begun = eval(2, "begun").value();
    CompletableFuture<Throwable> running =
        CompletableFuture.supplyAsync(
            () -> catchThrowable(() -> eval(3, "begun.countDown(); " + code)));
    ((CountDownLatch) begun).await();
    snippets.control().interrupt();
    await().atMost(LIMIT).until(running::isDone);
    assertThat(running.get()).isNotNull();

    CellStop.clear();
    assertThat(eval(4, "begun.getCount()").value()).as("usable afterwards").isEqualTo(0L);
  }
}
