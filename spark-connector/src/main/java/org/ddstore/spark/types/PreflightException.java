// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/** Thrown before a load if the cluster cannot run the store. Lists everything that is missing. */
public final class PreflightException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  private final ArrayList<Problem> problems;

  /**
   * @param what beginning of the message: the operation that is impossible
   * @param problems missing resources, each with its remedy
   */
  public PreflightException(String what, List<Problem> problems) {
    super(message(what, problems));
    this.problems = new ArrayList<>(problems);
  }

  /** {@return all problems} */
  public List<Problem> problems() {
    return Collections.unmodifiableList(problems);
  }

  private static String message(String what, List<Problem> problems) {
    StringBuilder text = new StringBuilder(what);
    for (Problem problem : problems) {
      text.append("\n- ").append(problem.missing()).append("\n  -> ").append(problem.remedy());
    }
    return text.toString();
  }

  /**
   * One unmet requirement.
   *
   * @param missing required and available amount or state
   * @param remedy setting or command that fixes it
   */
  public record Problem(String missing, String remedy) implements Serializable {}
}
