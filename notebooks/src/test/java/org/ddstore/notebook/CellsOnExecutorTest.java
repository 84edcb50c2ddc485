// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.file.Path;
import java.util.List;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lambdas and classes of cells in a class loader that loads what executors load. */
class CellsOnExecutorTest {
  @TempDir private static Path folder;
  private static Snippets snippets;
  private static int cells;

  @BeforeAll
  static void open() throws Exception {
    snippets = new Snippets(new CellClasses(CellsOnExecutorTest.class.getClassLoader(), folder));
    eval(
        """
        import java.io.Serializable;
        import java.util.*;
        import java.util.function.*;
        import java.util.stream.*;
        import org.ddstore.notebook.Call;
        """);
  }

  @AfterAll
  static void close() {
    snippets.close();
  }

  private static Object eval(String code) throws Exception {
    cells++;
    return SnippetsTest.eval(snippets, cells, code).value();
  }

  /** Runs a task, the value of an expression, as rank 5 of an executor. */
  private static Object onExecutor(String expression) throws Exception {
    return new ImitatedExecutor(folder).run(eval(expression), 5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "boolean | true | false",
        "byte | (byte) 7 | (byte) 8",
        "char | (char) 120 | (char) 121",
        "short | (short) -3 | (short) 3",
        "int | 70000 | 1",
        "long | 1L << 40 | 0",
        "float | 1.5f | 0",
        "double | -2.25 | 0",
        "String | \"text\" | null",
        "List<Integer> | List.of(1, 2) | null",
        "Integer | 12 | null"
      })
  void lambdaHasTheValueAtItsCreation(String type, String value, String other) throws Exception {
    Object expected = eval("%s variable = %s; variable".formatted(type, value));
    Object task = eval("Call<Object> task = rank -> rank + \":\" + variable; task");
    eval("variable = %s;".formatted(other));

    assertThat(new ImitatedExecutor(folder).run(task, 5)).isEqualTo("5:" + expected);
    assertThat(((Call<?>) task).run(5)).as("on the driver").isEqualTo("5:" + expected);
  }

  @Test
  void lambdaKeepsItsLocalVariables() throws Exception {
    eval("long wide = 1; int narrow = 2; double factor = 3;");
    assertThat(
            onExecutor(
                """
                Call<String> make(long local, int other) {
                  return rank -> {
                    StringBuilder text = new StringBuilder();
                    long sum = 0;
                    for (int i = 0; i < 3; i++) {
                      try {
                        double product = i * factor + wide;
                        if (product > 4) {
                          sum += (long) product;
                        } else {
                          text.append(i).append(narrow);
                        }
                        narrowly(i);
                      } catch (IllegalStateException e) {
                        text.append(e.getMessage()).append(local);
                      }
                    }
                    return text.append(sum).append(other).append(rank).toString();
                  };
                }
                void narrowly(int i) {
                  if (i == 2) {
                    throw new IllegalStateException("two");
                  }
                }
                make(8, 9)"""))
        .isEqualTo("0212two8795");
  }

  @Test
  void innerLambdasHaveTheValuesOfTheOuterOne() throws Exception {
    eval("int base = 10; List<String> names = List.of(\"a\", \"b\");");
    Object task =
        eval(
            """
            Call<Object> nested = rank -> {
              int local = rank;
              return IntStream.range(0, 2)
                  .mapToObj(i -> names.stream().map(name -> name + (base + i + local)).toList())
                  .toList();
            };
            nested""");
    eval("base = 0; names = null;");
    assertThat(new ImitatedExecutor(folder).run(task, 5))
        .isEqualTo(List.of(List.of("a15", "b15"), List.of("a16", "b16")));
  }

  @Test
  void innerSerializableLambdaIsCreatedOnTheExecutor() throws Exception {
    eval("int base = 3;");
    Object task = eval("Call<Call<Integer>> outer = rank -> inner -> inner + rank + base; outer");
    eval("base = 0;");
    Object inner = new ImitatedExecutor(folder).run(task, 5);
    assertThat(new ImitatedExecutor(folder).run(inner, 1)).isEqualTo(9);
  }

  /** Code before the task, the task, and its result. */
  static List<Arguments> tasks() {
    return List.of(
        arguments("", "(Call<Integer> & Cloneable) rank -> rank * base", 50),
        arguments("", "(Call<Integer>) rank -> rank + base", 15),
        arguments("double[][] w = {{1, 2}, {3}};", "(Call<Double>) rank -> w[1][0] + base", 13.0),
        arguments("Supplier<Call<Integer>> maker = () -> rank -> rank + base;", "maker.get()", 15),
        arguments(
            """
            List<Call<Integer>> both = new ArrayList<>();
            both.add(rank -> rank + base);
            both.add(rank -> rank + base);""",
            "both.get(1)",
            15),
        arguments(
            "IntBinaryOperator product = (IntBinaryOperator & Serializable) (a, b) -> a * b + base;",
            "(Call<Integer>) rank -> product.applyAsInt(rank, 2)",
            20),
        arguments(
            "class Own { static int twice(int x) { return 2 * x; } }",
            "(Call<Integer>) Own::twice",
            10),
        arguments(
            "Map<Integer, String> names = new HashMap<>(Map.of(5, \"five\"));",
            "(Call<String>) names::get",
            "five"),
        arguments(
            "int thrice(int x) { return 3 * x; }", "(Call<Integer>) rank -> thrice(rank)", 15),
        arguments(
            """
            class Scale implements Serializable {
              static final int STEP = 7;
              final int factor = base;
              Call<Integer> task(int add) { return rank -> rank * factor + add + base + STEP; }
            }
            Scale scale = new Scale();""",
            "scale.task(2)",
            69));
  }

  @ParameterizedTest
  @MethodSource("tasks")
  void taskHasItsResultOnAnExecutor(String before, String task, Object result) throws Exception {
    eval("int base = 10;\n" + before);
    assertThat(onExecutor(task)).isEqualTo(result);
  }

  @Test
  void equalLambdasInsideAndOutsideOfATaskDoNotShareValues() throws Exception {
    eval("int base = 1; IntSupplier reader = () -> base;");
    Object task =
        eval(
            "(Call<Integer>) rank -> { IntSupplier reader = () -> base; return reader.getAsInt(); }");
    eval("base = 9;");
    assertThat(new ImitatedExecutor(folder).run(task, 0)).isEqualTo(1);
    assertThat(eval("reader.getAsInt()")).as("ordinary lambdas read the variable").isEqualTo(9);
  }

  @Test
  void classesOfCellsReachExecutors() throws Exception {
    eval(
        """
        interface Shape extends Serializable { double area(); default String name() { return "shape"; } }
        record Square(double side) implements Shape { public double area() { return side * side; } }
        enum Color { RED, GREEN { @Override String text() { return "g"; } }; String text() { return "r"; } }
        class Box<T extends Shape> implements Serializable {
          final T content;
          Box(T content) { this.content = content; }
          class Label implements Serializable { String text() { return content.name(); } }
        }
        Shape square = new Square(3);
        Shape anonymous = new Shape() { public double area() { return 4; } };""");
    assertThat(
            onExecutor(
                """
                Call<String> task = rank -> {
                  Object found = rank > 0 ? new Square(2) : anonymous;
                  String kind = found instanceof Square other && other.side() == 2 ? "two" : "none";
                  String color = switch (Color.values()[1]) { case RED -> "red"; case GREEN -> "green"; };
                  return square + kind + color + Color.GREEN.text() + anonymous.area()
                      + new Box<>(square).new Label().text();
                };
                task"""))
        .isEqualTo("Square[side=3.0]twogreeng4.0shape");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rank -> method(rank)",
        "rank -> new Reader().get()",
        "rank -> Holder.KEPT",
        "new Call<Integer>() { public Integer run(int rank) { return outside; } }",
        "rank -> new Reader().later().get()",
        "rank -> outside = 77"
      })
  void useOutsideOfTheLambdaFailsOnExecutors(String task) throws Exception {
    eval(
        """
        int outside = 77;
        int method(int x) { return x + outside; }
        class Reader {
          int get() { return outside; }
          Supplier<Integer> later() { return () -> outside; }
        }
        class Holder { static final int KEPT = Integer.valueOf(outside); }""");
    Object made = eval("Call<Integer> made = %s; made".formatted(task));

    assertThat(((Call<?>) made).run(0)).as("on the driver").isEqualTo(77);
    assertThatThrownBy(() -> new ImitatedExecutor(folder).run(made, 0))
        .extracting(failure -> failure.getCause() == null ? failure : failure.getCause())
        .isInstanceOf(RejectedArgumentException.class)
        .asString()
        .contains("variable \"outside\" of a cell is not available on executors: pass its value");
  }

  @Test
  void redefinedClassesReachExecutors() throws Exception {
    eval("int version() { return 1; }");
    eval("Call<Integer> first = rank -> version();");
    Object old = eval("first");
    eval("int version() { return 2; }");
    assertThat(onExecutor("(Call<Integer>) rank -> version()")).isEqualTo(2);
    assertThat(new ImitatedExecutor(folder).run(old, 0)).isIn(1, 2);
  }
}
