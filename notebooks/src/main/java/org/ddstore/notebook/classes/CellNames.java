// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of the classes that JShell puts around snippets, and of the classes in them. */
public final class CellNames {
  private static final Pattern CLASS = Pattern.compile("(REPL[./]\\$JShell\\$\\w+)(?:\\$(.+))?");

  private CellNames() {}

  /** Returns whether a class, given by its binary name, is one of a cell. */
  public static boolean isOfCell(String className) {
    return CLASS.matcher(className).matches();
  }

  /** Returns whether a class, given by its internal name, is one around a snippet. */
  static boolean isSnippet(String className) {
    Matcher parts = CLASS.matcher(className);
    return parts.matches() && parts.group(2) == null;
  }

  /** Returns the class around the snippet that declares a class of a cell. */
  public static String snippetClass(String className) {
    return CLASS.matcher(className).replaceFirst("$1");
  }

  /** Returns the name that the user has given to a class of a cell, and other names unchanged. */
  public static String userName(String className) {
    Matcher parts = CLASS.matcher(className);
    return parts.matches() && parts.group(2) != null ? parts.group(2) : className;
  }
}
