// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.NotSerializableException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.notebook.classes.CellNames;

/**
 * The lines that a user sees of an exception: its message, its frames in cells and in other code of
 * the user, and its causes in the same form. Frames of the JDK, of Spark and of this project are
 * omitted, including those that Spark puts into messages.
 */
final class FailureReport {
  /** A frame in the message of an exception: {@code \tat class.method(file:line)}. */
  private static final Pattern FRAME =
      Pattern.compile("\\s*at (?:\\S+/)?([\\w.$/]+)\\.([\\w$<>]+)\\((?:[^:()]*:(\\d+)|[^()]*)\\)");

  /**
   * The end of messages of failed jobs: the driver's own stack, or the objects around one that
   * cannot be serialized.
   */
  private static final Pattern MESSAGE_END =
      Pattern.compile("\\n(Driver stacktrace:|Serialization stack:)(?s:.*)");

  /** The message of executors that do not find a class of a cell. */
  private static final Pattern CLASS_NOT_FOUND =
      Pattern.compile(
          "ClassNotFoundException: REPL\\.|(cast|instance of) java\\.lang\\.invoke\\.SerializedLambda");

  private static final Pattern LIBRARIES =
      Pattern.compile(
          "(java|javax|jdk|sun|com\\.sun|scala|org\\.apache|org\\.ddstore|org\\.knowm|io\\.netty"
              + "|org\\.codehaus\\.janino)\\..*");

  private static final int MOST_MESSAGE_LINES = 40;
  private static final int MOST_FRAMES = 20;

  /** Returns the frame of a cell, given class, method and line; empty for other code. */
  interface Frames {
    Optional<CellFrame> find(String className, String methodName, int line);
  }

  private final Frames frames;

  /** Returns the variables that hold objects of a class. */
  private final Function<String, Stream<String>> holders;

  /** Returns why executors cannot load classes of cells, if this is known. */
  private final Supplier<Optional<String>> servingProblem;

  FailureReport(
      Frames frames,
      Function<String, Stream<String>> holders,
      Supplier<Optional<String>> servingProblem) {
    this.frames = frames;
    this.holders = holders;
    this.servingProblem = servingProblem;
  }

  /**
   * Returns the exception that a front end shows.
   *
   * @param place place of the failure if its stack does not name it
   */
  CellException exception(Throwable failure, Optional<CellFrame> place) {
    List<String> lines = lines(failure);
    place.ifPresent(frame -> lines.add("    " + frame));
    return new CellException(
        failure.getClass().getSimpleName(), firstLine(failure), lines, failure);
  }

  private static String firstLine(Throwable failure) {
    return Objects.requireNonNullElse(failure.getMessage(), "").lines().findFirst().orElse("");
  }

  private List<String> lines(Throwable failure) {
    List<String> lines = new ArrayList<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
      List<String> stack = stack(each).toList();
      // Spark puts the exception of a task into the message of the job's exception.
      boolean isKnown =
          each != failure
              && String.join("\n", lines).contains(title(each))
              && lines.containsAll(stack);
      if (!isKnown) {
        lines.addAll(message((each == failure ? "" : "Caused by: ") + title(each)));
        stack.stream().filter(frame -> !lines.contains(frame)).toList().forEach(lines::add);
      }
    }
    hint(seen).ifPresent(lines::add);
    return lines;
  }

  private static String title(Throwable failure) {
    String type = failure.getClass().getName();
    String name = CellNames.isOfCell(type) ? CellNames.type(type) : type;
    return failure.getMessage() == null ? name : name + ": " + failure.getMessage();
  }

  /** Returns the lines of a message without frames of libraries. */
  private List<String> message(String text) {
    List<String> lines = new ArrayList<>();
    for (String line : MESSAGE_END.matcher(text).replaceFirst("").lines().toList()) {
      Matcher frame = FRAME.matcher(line);
      if (!frame.matches()) {
        lines.add(line);
      } else {
        int number = frame.group(3) == null ? 0 : Integer.parseInt(frame.group(3));
        frame(frame.group(1), frame.group(2), number).ifPresent(lines::add);
      }
    }
    lines.removeIf(String::isBlank);
    return lines.size() <= MOST_MESSAGE_LINES
        ? lines
        : Stream.concat(lines.stream().limit(MOST_MESSAGE_LINES), Stream.of("..")).toList();
  }

  /** Returns the frames of a stack, without the callers of the cell. */
  private Stream<String> stack(Throwable failure) {
    StackTraceElement[] all = failure.getStackTrace();
    int end = all.length;
    for (int i = 0; i < all.length; i++) {
      if (CellNames.isOfCell(all[i].getClassName())) {
        end = i + 1;
      }
    }
    return Stream.of(all)
        .limit(end)
        .flatMap(
            each -> frame(each.getClassName(), each.getMethodName(), each.getLineNumber()).stream())
        .distinct()
        .limit(MOST_FRAMES);
  }

  private Optional<String> frame(String className, String methodName, int line) {
    if (CellNames.isOfCell(className) && CellNames.isThrower(methodName)) {
      return Optional.empty();
    }
    Optional<CellFrame> frame = frames.find(className, methodName, line);
    if (frame.isPresent()) {
      return frame.map(each -> "    " + each);
    }
    boolean isLibrary = LIBRARIES.matcher(className).matches() || CellNames.isOfCell(className);
    return isLibrary
        ? Optional.empty()
        : Optional.of("    at %s.%s (line %d)".formatted(className, methodName, line));
  }

  /** Returns the remedy for mistakes whose messages do not tell it. */
  private Optional<String> hint(Set<Throwable> failures) {
    boolean lacksClass =
        failures.stream().anyMatch(each -> CLASS_NOT_FOUND.matcher(each.toString()).find());
    if (lacksClass) {
      return servingProblem.get();
    }
    return failures.stream()
        .filter(NotSerializableException.class::isInstance)
        .map(FailureReport::firstLine)
        .flatMap(type -> holders.apply(type).map(FailureReport::notSerializable))
        .findFirst();
  }

  private static String notSerializable(String variable) {
    return "variable \"%s\" holds it: executors get the values of the variables that a lambda reads, so read one that is serializable"
        .formatted(variable);
  }
}
