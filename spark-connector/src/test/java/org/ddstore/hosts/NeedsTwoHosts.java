package org.ddstore.hosts;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A class of tests, tagged {@code system}, that is skipped where two hosts cannot be made. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("system")
@ExtendWith(NeedsTwoHosts.Condition.class)
public @interface NeedsTwoHosts {
  /** Also prints the reason: Surefire shows only how many tests were skipped. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      if (context.getTestMethod().isPresent()) {
        return ConditionEvaluationResult.enabled("decided for the class");
      }
      Optional<String> missing = Requirements.missing();
      if (missing.isEmpty()) {
        return ConditionEvaluationResult.enabled("two hosts can be made");
      }
      System.out.println("skipped " + context.getDisplayName() + ": " + missing.get());
      return ConditionEvaluationResult.disabled(missing.get());
    }
  }
}
