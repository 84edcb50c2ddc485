// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

/**
 * Requirements of tests that not every machine meets. Tests without their requirement are skipped
 * and print the reason, because Surefire shows only the number of skipped tests. With {@code
 * CI=true} they fail instead, so that no test is skipped unnoticed.
 */
public final class Needed {
  /**
   * The distribution's Python, for which its packages are; another one may be first on the path.
   */
  public static final String PYTHON =
      Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";

  private Needed() {}

  /**
   * Goes on if it is there.
   *
   * @param what for messages: {@code MPI}
   * @param found what there is, or why it is missing
   * @throws IllegalStateException if it is missing where {@code CI=true}
   */
  public static void check(String what, boolean isThere, Supplier<String> found) {
    if (!isThere) {
      Assumptions.abort(missing(what, found.get()));
    }
  }

  public static ConditionEvaluationResult condition(String what, boolean isThere, String found) {
    return isThere
        ? ConditionEvaluationResult.enabled(found)
        : ConditionEvaluationResult.disabled(missing(what, found));
  }

  private static String missing(String what, String found) {
    if ("true".equals(System.getenv("CI"))) {
      throw new IllegalStateException(
          "CI=true, so tests that need %s have to run, and it is missing: %s"
              .formatted(what, found));
    }
    String missing = "needs %s: %s".formatted(what, found);
    System.out.println("skipped, " + missing);
    return missing;
  }
}
