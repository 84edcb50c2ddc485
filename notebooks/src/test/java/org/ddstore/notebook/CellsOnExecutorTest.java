// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lambdas and classes of cells in a class loader that loads what executors load. */
class CellsOnExecutorTest {
  @TempDir private static Path folder;
  private static Snippets snippets;
  private static int cells;

  @BeforeAll
  static void open() throws CellException {
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

  private static Object eval(String code) throws CellException {
    cells++;
    return snippets.eval(new CellText(cells, code)).value();
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
  void lambdaHasTheElementsOfAnArray() throws Exception {
    eval("double[][] weights = {{1, 2}, {3}};");
    assertThat(onExecutor("(Call<Double>) rank -> weights[1][0] + weights[0].length"))
        .isEqualTo(5.0);
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
    ImitatedExecutor executor = new ImitatedExecutor(folder);
    Object inner = executor.run(task, 5);
    assertThat(new ImitatedExecutor(folder).run(inner, 1)).isEqualTo(9);
  }

  @Test
  void lambdaInAnOrdinaryLambdaHasTheValueAtItsCreation() throws Exception {
    eval("int base = 1; Supplier<Call<Integer>> maker = () -> rank -> rank + base;");
    eval("base = 2;");
    assertThat(onExecutor("maker.get()")).as("the ordinary lambda reads the variable").isEqualTo(7);
  }

  @Test
  void equalLambdasAreSerializedEach() throws Exception {
    eval("int base = 1;");
    assertThat(
            onExecutor(
                """
                List<Call<Integer>> both = new ArrayList<>();
                both.add(rank -> rank + base);
                both.add(rank -> rank + base);
                both.get(1)"""))
        .isEqualTo(6);
  }

  @Test
  void lambdaOfSeveralInterfacesIsSerialized() throws Exception {
    eval("int base = 4;");
    assertThat(onExecutor("(Call<Integer> & Cloneable) rank -> rank * base")).isEqualTo(20);
    assertThat(
            onExecutor(
                """
                IntBinaryOperator product = (IntBinaryOperator & Serializable) (a, b) -> a * b + base;
                Call<Integer> user = rank -> product.applyAsInt(rank, 2);
                user"""))
        .isEqualTo(14);
  }

  @Test
  void methodReferencesAreSerialized() throws Exception {
    eval(
        """
        class Own { static int twice(int x) { return 2 * x; } }
        int thrice(int x) { return 3 * x; }
        Map<Integer, String> names = new HashMap<>(Map.of(5, "five"));""");
    Object bound = eval("Call<String> bound = names::get; bound");
    eval("names = null;");

    assertThat(onExecutor("(Call<Integer>) Own::twice")).isEqualTo(10);
    assertThat(onExecutor("(Call<Integer>) rank -> thrice(rank)")).isEqualTo(15);
    assertThat(new ImitatedExecutor(folder).run(bound, 5)).isEqualTo("five");
  }

  @Test
  void methodOfAClassCapturesItsObject() throws Exception {
    eval(
        """
        int base = 100;
        class Scale implements Serializable {
          static final int STEP = 7;
          final int factor = base;
          Call<Integer> task(int add) { return rank -> rank * factor + add + base + STEP; }
        }
        Scale scale = new Scale();
        base = 1;""");
    assertThat(onExecutor("scale.task(2)")).isEqualTo(510);
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

  @Test
  void resultsOfExecutorsAreEqualToThoseOfTheDriver() throws Exception {
    eval("record Point(int x, List<Integer> all) implements Serializable {}");
    assertThat(onExecutor("(Call<Point>) rank -> new Point(rank, List.of(1))"))
        .hasToString("Point[x=5, all=[1]]");
  }

  @Test
  void ordinaryLambdasReadTheVariable() throws Exception {
    eval("int live = 1; IntSupplier reader = () -> live; Runnable writer = () -> { live = 9; };");
    eval("writer.run();");
    assertThat(eval("reader.getAsInt()")).isEqualTo(9);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(Call<Integer>) rank -> count++",
        "(Call<Integer>) rank -> { IntStream.range(0, 2).forEach(i -> count = i); return 0; }",
        "(Call<Call<Integer>>) rank -> inner -> count -= 1"
      })
  void lambdaThatAssignsAVariableIsRefused(String expression) throws Exception {
    eval("int count = 0;");
    assertThatThrownBy(() -> eval(expression))
        .isInstanceOf(CodeFailure.class)
        .cause()
        .isInstanceOf(RejectedArgumentException.class)
        .hasMessage(
            "the lambda assigns variable \"count\", which executors cannot change: return the value as a result, or use an accumulator of Spark");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rank -> method(rank) | method \"method\" reads it",
        "rank -> new Reader().get() | method \"get\" of Reader reads it",
        "rank -> new Reader(1).kept | the constructor of Reader reads it",
        "rank -> Holder.KEPT | the initializer of Holder reads it",
        "rank -> new Default() {}.get() | method \"get\" of Default reads it",
        "new Call<Integer>() { public Integer run(int rank) { return outside; } } | method \"run\" of an anonymous class reads it",
        "rank -> new Reader().later().get() | method \"later\" of Reader reads it"
      })
  void useOutsideOfTheLambdaFailsOnExecutors(String task, String place) throws Exception {
    eval(
        """
        int outside = 77;
        int method(int x) { return x + outside; }
        class Reader {
          int kept;
          Reader() {}
          Reader(int x) { kept = outside; }
          int get() { return outside; }
          Supplier<Integer> later() { return () -> outside; }
        }
        class Holder { static final int KEPT = Integer.valueOf(outside); }
        interface Default { default int get() { return outside; } }""");
    Object made = eval("Call<Integer> made = %s; made".formatted(task));

    assertThat(((Call<?>) made).run(0)).as("on the driver").isEqualTo(77);
    assertThatThrownBy(() -> new ImitatedExecutor(folder).run(made, 0))
        .satisfiesAnyOf(
            failure -> assertThat(failure).isInstanceOf(RejectedArgumentException.class),
            failure -> assertThat(failure).hasCauseInstanceOf(RejectedArgumentException.class))
        .satisfies(
            failure ->
                assertThat(failure.getCause() == null ? failure : failure.getCause())
                    .hasMessageContaining("variable \"outside\" has no value on executors")
                    .hasMessageContaining(place)
                    .hasMessageContaining("pass the value as a parameter"));
  }

  @Test
  void assignmentOutsideOfTheLambdaFailsOnExecutors() throws Exception {
    eval("long total = 0; void add(long x) { total += x; } void put(long x) { total = x; }");
    Object made = eval("Call<Integer> made = rank -> { put(rank); return 0; }; made");
    assertThatThrownBy(() -> new ImitatedExecutor(folder).run(made, 1))
        .isInstanceOf(RejectedArgumentException.class)
        .hasMessage(
            "variable \"total\" cannot be assigned on executors, where method \"put\" assigns it: return the value as a result");
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
