// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RejectedArgumentException;

/** Which exceptions an operation may throw under faults. */
final class Legality {
  /** Exceptions of defects, wherever they are in the chain or in the text of Spark. */
  private static final Pattern DEFECT =
      Pattern.compile(
          "(NullPointer|ClassCast|IndexOutOfBounds|ConcurrentModification|NoSuchElement|Assertion"
              + "|IllegalMonitorState|ArithmeticE|NegativeArraySize|BufferUnderflow|StackOverflow"
              + "|InternalE)\\w*(Exception|Error)");

  /** What Java reports when it cannot load the class of a lambda, for lack of descriptors. */
  private static final String UNLOADED = "java.lang.invoke.SerializedLambda to field";

  /** What is documented for a store that has been dropped. */
  private static final Pattern DROPPED =
      Pattern.compile(
          "java.lang.(IllegalStateException: dropped: |IllegalArgumentException: no store \")");

  private static final List<Class<?>> TYPED =
      List.of(DDStoreException.class, RejectedArgumentException.class, SparkThrowable.class);

  private Legality() {}

  /**
   * Returns why a failure is illegal; empty if it is typed and tells of no defect.
   *
   * @param isDropped whether the store may have been dropped
   */
  static Optional<String> problem(Throwable failure, boolean isDropped) {
    boolean isTyped = TYPED.stream().anyMatch(type -> type.isInstance(failure));
    if (!isTyped && !(isDropped && DROPPED.matcher(failure.toString()).lookingAt())) {
      return Optional.of("neither of DDStore nor of Spark: " + failure);
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String text = cause.toString();
      if (DEFECT.matcher(text).find() && !text.contains(UNLOADED)) {
        return Optional.of("it tells of a defect: " + cause);
      }
    }
    return Optional.empty();
  }
}
