// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Optional;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A class of tests, tagged {@code system}, that runs where two hosts can be made, see {@link
 * Needed}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("system")
@ExtendWith(NeedsTwoHosts.Condition.class)
public @interface NeedsTwoHosts {
  /** Asks once for each class. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      if (context.getTestMethod().isPresent()) {
        return ConditionEvaluationResult.enabled("decided for the class");
      }
      Optional<String> missing = Requirements.missing();
      return Needed.condition(
          "two hosts", missing.isEmpty(), missing.orElse("two hosts can be made"));
    }
  }
}
