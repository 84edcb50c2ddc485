// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names in compiled classes of cells, and those that a user has written. */
public final class CellNames {
  /** A class around a snippet, and the classes in it. */
  private static final Pattern CLASS = Pattern.compile("REPL[./](\\$JShell\\$\\w+)(?:\\$(.+))?");

  /**
   * A method that the compiler has made of a lambda: a serializable one has a hash in its name, and
   * one that captures variables of cells a suffix.
   */
  private static final Pattern LAMBDA =
      Pattern.compile("lambda\\$(.*?)(\\$[0-9a-f]{1,8})?\\$\\d+(\\$captured)?");

  /** The methods that JShell puts around a snippet. */
  private static final Pattern SNIPPET_METHOD = Pattern.compile("do_it\\$(Aux)?");

  private CellNames() {}

  /** Returns whether a class, given by its binary or internal name, is one of a cell. */
  public static boolean isOfCell(String className) {
    return CLASS.matcher(className).matches();
  }

  /** Returns the binary name of the class around the snippet that declares a class of a cell. */
  public static String snippetClass(String className) {
    Matcher parts = match(className);
    return "REPL." + parts.group(1);
  }

  /**
   * Returns the name of a class of a cell as the user has written it; empty for the class around a
   * snippet.
   */
  public static String type(String className) {
    String name = match(className).group(2);
    return name == null ? "" : name.replace('$', '.');
  }

  private static Matcher match(String className) {
    Matcher parts = CLASS.matcher(className);
    if (!parts.matches()) {
      throw new IllegalArgumentException("\"%s\" is not a class of a cell".formatted(className));
    }
    return parts;
  }

  /**
   * Returns whether a method of a class of a cell throws for another one, see {@link IllegalUses}.
   */
  public static boolean isThrower(String compiledName) {
    return compiledName.startsWith(IllegalUses.NAME);
  }

  /** Returns the method that the user has written; empty for code outside of methods. */
  public static String method(String compiledName) {
    Matcher lambda = LAMBDA.matcher(compiledName);
    String name = lambda.matches() ? lambda.group(1) : compiledName;
    return SNIPPET_METHOD.matcher(name).matches() ? "" : name;
  }
}
