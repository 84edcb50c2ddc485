// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.Optional;

/**
 * A block of code of a page, or set-up that the page hides.
 *
 * @param page page that contains the block
 * @param line line of the file, from 1
 * @param language language, empty if the block names none
 * @param code text of the block
 * @param reason why the block is not run; empty if it is
 * @param output expected output; empty if the page shows none
 */
record CodeBlock(
    Page page,
    int line,
    String language,
    String code,
    Optional<String> reason,
    Optional<BlockOutput> output) {

  /** Returns whether the block is a program that runs. */
  boolean runs() {
    boolean isProgram =
        switch (language) {
          case "java", "sql", "shell", "bash" -> true;
          default -> false;
        };
    return isProgram && reason.isEmpty();
  }

  boolean isShell() {
    return language.equals("shell") || language.equals("bash");
  }

  CodeBlock withOutput(BlockOutput expected) {
    return new CodeBlock(page, line, language, code, reason, Optional.of(expected));
  }

  @Override
  public String toString() {
    return "%s:%d".formatted(page, line);
  }
}
