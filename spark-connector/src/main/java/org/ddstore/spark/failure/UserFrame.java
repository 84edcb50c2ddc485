// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The recognition of exceptions that a user's code raises. The code of the user is the project of
 * the function that Spark or a store calls: classes whose packages begin with the same two names.
 * It raises what is thrown by its frames, by the platform below them, and by a store for a wrong
 * argument, which is an exception of the platform. A library that it calls has reasons of its own,
 * such as a service that does not answer; of its exceptions only those that wrong arguments cause
 * count.
 */
final class UserFrame {
  private static final String STORE = "org.ddstore.";

  /** Prefixes of classes that act for their caller. */
  private static final List<String> PLATFORM =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "scala.", "kotlin.");

  /** Prefixes of classes whose exceptions are not the user's. */
  private static final List<String> ENGINES =
      List.of("org.apache.spark.", "org.apache.hadoop.", "io.netty.", STORE);

  /** Prefixes of Spark's callers of sources, whose connectors are libraries. */
  private static final List<String> SOURCES =
      List.of(
          "org.apache.spark.sql.connector.",
          "org.apache.spark.sql.execution.datasources.",
          "org.apache.spark.sql.kafka010.",
          "org.apache.spark.rdd.HadoopRDD",
          "org.apache.spark.rdd.NewHadoopRDD");

  private static final String EXAMPLES = "org.ddstore.examples.";

  /** Exceptions that wrong code and wrong arguments cause, whoever detects it. */
  private static final List<Class<? extends Throwable>> MISTAKES =
      List.of(
          IllegalArgumentException.class,
          UnsupportedOperationException.class,
          IndexOutOfBoundsException.class,
          NegativeArraySizeException.class,
          ArithmeticException.class,
          ClassCastException.class,
          NullPointerException.class,
          Error.class);

  private UserFrame() {}

  /**
   * Returns the frame of the user's code that raised an exception.
   *
   * @param thrown class of the exception
   * @param trace its stack trace, innermost frame first
   * @return empty if other code raised it, or the trace does not tell
   */
  static Optional<StackTraceElement> of(Class<?> thrown, StackTraceElement... trace) {
    List<StackTraceElement> all =
        Stream.of(trace).filter(frame -> !has(PLATFORM, frame.getClassName())).toList();
    boolean inStore = !all.isEmpty() && isStore(all.get(0)) && has(PLATFORM, thrown.getName());
    List<StackTraceElement> frames =
        all.stream()
            .dropWhile(frame -> inStore && isStore(frame))
            .takeWhile(frame -> !isEngine(frame))
            .toList();
    if (frames.isEmpty() || isCalledBySource(all)) {
      return Optional.empty();
    }
    StackTraceElement called = frames.get(frames.size() - 1);
    boolean isOwn = isSameProject(frames.get(0), called);
    boolean isMistake =
        !inStore && MISTAKES.stream().anyMatch(type -> type.isAssignableFrom(thrown));
    return isOwn || isMistake
        ? frames.stream().filter(frame -> isSameProject(frame, called)).findFirst()
        : Optional.empty();
  }

  /** Returns whether the engine that called the innermost code reads a source. */
  private static boolean isCalledBySource(List<StackTraceElement> frames) {
    return frames.stream()
        .dropWhile(UserFrame::isStore)
        .filter(UserFrame::isEngine)
        .findFirst()
        .filter(frame -> has(SOURCES, frame.getClassName()))
        .isPresent();
  }

  private static boolean has(List<String> prefixes, String name) {
    return prefixes.stream().anyMatch(name::startsWith);
  }

  private static boolean isStore(StackTraceElement frame) {
    return frame.getClassName().startsWith(STORE) && isEngine(frame);
  }

  private static boolean isEngine(StackTraceElement frame) {
    return has(ENGINES, frame.getClassName()) && !frame.getClassName().startsWith(EXAMPLES);
  }

  private static boolean isSameProject(StackTraceElement frame, StackTraceElement other) {
    return project(frame).equals(project(other));
  }

  /** Returns the first two names of a package; empty for the unnamed package. */
  private static List<String> project(StackTraceElement frame) {
    String[] names = frame.getClassName().split("\\.", -1);
    return List.of(names).subList(0, Math.min(2, names.length - 1));
  }
}
