package org.ddstore.spark.wire;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips, with the reason, where libfabric or the C library is not there. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsFabric.Condition.class)
@interface NeedsFabric {
  /** Asks the provider. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      String missing = FabricBackend.missing();
      if (missing == null) {
        return ConditionEvaluationResult.enabled("libfabric is here");
      }
      System.out.println("skipped " + context.getDisplayName() + ": " + missing);
      return ConditionEvaluationResult.disabled(missing);
    }
  }
}
