package org.ddstore.mpi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs where MPI can be used; elsewhere it is skipped with the reason, and fails where {@code
 * CI=true}: nothing is to be left out there unseen.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsMpi.Condition.class)
@interface NeedsMpi {
  /** Asks once. */
  final class Condition implements ExecutionCondition {
    private static final Availability HERE = Mpi.availability();

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      if (HERE.isAvailable()) {
        return ConditionEvaluationResult.enabled(HERE.detail());
      }
      if ("true".equals(System.getenv("CI"))) {
        throw new IllegalStateException(
            "CI=true, so tests of MPI have to run, and it cannot be used: " + HERE.detail());
      }
      return ConditionEvaluationResult.disabled("needs MPI: " + HERE.detail());
    }
  }
}
