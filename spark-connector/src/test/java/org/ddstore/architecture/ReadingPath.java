// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The classes that a reader of the code opens, in order, to follow one operation. A page lists them
 * below the heading {@code ### title}, one line each: {@code 1. `org.ddstore.Reader`: what happens
 * here}.
 *
 * @param title operation that the reader follows
 * @param most maximum number of classes
 * @param numbers numbers of the lines
 * @param classes full names of the classes
 */
record ReadingPath(String title, int most, List<Integer> numbers, List<String> classes) {
  /** The operations, with the maximum number of classes. */
  static final Map<String, Integer> LIMITS =
      Map.of("A local getBatch", 14, "A getBatch over tcp", 24, "The loading of a row", 20);

  private static final Pattern STEP = Pattern.compile("(?m)^(\\d+)\\. `([\\w.]+)`(?:: \\S|$)");

  private static final Pattern NO_CODE = Pattern.compile("(?s:/\\*.*?\\*/)|//.*|(?m:^import .*$)");

  /** A source of the text of classes by full name; empty if a class does not exist. */
  @FunctionalInterface
  interface Sources {
    Optional<String> source(String className) throws IOException;
  }

  /** Returns the list below a heading of a page; empty if the page has no such heading. */
  static Optional<ReadingPath> find(String page, String title) {
    Matcher section =
        Pattern.compile("(?ms)^### " + Pattern.quote(title) + "$(.*?)(?=^#{2,3} |\\z)")
            .matcher(page);
    if (!section.find()) {
      return Optional.empty();
    }
    List<Integer> numbers = new ArrayList<>();
    List<String> classes = new ArrayList<>();
    Matcher step = STEP.matcher(section.group(1));
    while (step.find()) {
      numbers.add(Integer.valueOf(step.group(1)));
      classes.add(step.group(2));
    }
    return Optional.of(new ReadingPath(title, LIMITS.get(title), numbers, classes));
  }

  /**
   * Returns the problems of the list: too many or no classes, wrong numbers, a class without a
   * file, or a class that a reader cannot find from the classes before it, because the code of none
   * of them names it, or a type that it extends or implements. Comments and imports do not count.
   */
  List<String> problems(Sources sources) throws IOException {
    List<String> problems = new ArrayList<>();
    if (classes.isEmpty() || classes.size() > most) {
      problems.add("%d classes, expected 1 to %d".formatted(classes.size(), most));
    }
    List<String> earlier = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      String name = classes.get(i);
      if (numbers.get(i) != i + 1) {
        problems.add("%s has number %d, expected %d".formatted(name, numbers.get(i), i + 1));
      }
      Optional<String> source = sources.source(name);
      if (source.isEmpty()) {
        problems.add("%s has no file".formatted(name));
        continue;
      }
      if (i > 0 && !isReachable(name, source.get(), earlier, sources)) {
        problems.add("%s is not named by a class before it".formatted(name));
      }
      earlier.add(NO_CODE.matcher(source.get()).replaceAll(""));
    }
    return problems;
  }

  /**
   * Returns whether an earlier class names this one, or a type of the project that it implements.
   */
  private static boolean isReachable(
      String fullName, String source, List<String> earlier, Sources sources) throws IOException {
    if (isNamed(simpleName(fullName), earlier)) {
      return true;
    }
    for (String supertype : supertypes(fullName, source)) {
      if (sources.source(supertype).isPresent() && isNamed(simpleName(supertype), earlier)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNamed(String name, List<String> texts) {
    return texts.stream().anyMatch(text -> hasWord(text, name));
  }

  /**
   * Returns the full names that the supertypes of a class can have: imported, or of its package.
   */
  private static List<String> supertypes(String fullName, String source) {
    Matcher head =
        Pattern.compile(
                "\\b(?:class|record|interface|enum) " + simpleName(fullName) + "\\b([^{]*)\\{")
            .matcher(source);
    if (!head.find()) {
      return List.of();
    }
    List<String> names = new ArrayList<>();
    Matcher type = Pattern.compile("\\b[A-Z]\\w*").matcher(head.group(1));
    while (type.find()) {
      Matcher imported =
          Pattern.compile("(?m)^import ([\\w.]+\\." + type.group() + ");").matcher(source);
      String own = fullName.substring(0, fullName.lastIndexOf('.') + 1) + type.group();
      names.add(imported.find() ? imported.group(1) : own);
    }
    return names;
  }

  private static boolean hasWord(String text, String word) {
    return Pattern.compile("\\b" + word + "\\b").matcher(text).find();
  }

  private static String simpleName(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
