package org.ddstore.fabric;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.transport.OneSidedChoice;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips, with the reason, where libfabric or the C library is not there, and fails where {@code
 * CI=true}: nothing is to be left out there unseen.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsFabric.Condition.class)
@interface NeedsFabric {
  /** Asks the provider. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      OneSidedChoice choice = Processes.choice();
      if (choice.isAvailable()) {
        return ConditionEvaluationResult.enabled(choice.detail());
      }
      if ("true".equals(System.getenv("CI"))) {
        throw new IllegalStateException(
            "CI=true, so tests of fabric have to run, and it cannot be used: " + choice.detail());
      }
      System.out.println("skipped " + context.getDisplayName() + ": " + choice.detail());
      return ConditionEvaluationResult.disabled(choice.detail());
    }
  }
}
