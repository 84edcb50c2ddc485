package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/** A store cannot run here; found before it is loaded. Lists everything that was found missing. */
public final class PreflightException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  private final ArrayList<Problem> problems;

  /**
   * @param what what cannot be done, to begin the message with
   */
  public PreflightException(String what, List<Problem> problems) {
    super(message(what, problems));
    this.problems = new ArrayList<>(problems);
  }

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
   * One thing that stands in the way.
   *
   * @param missing what is needed and what there is
   * @param remedy the setting, or the command, that gives it
   */
  public record Problem(String missing, String remedy) implements Serializable {}
}
