// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.contract.Needed;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs where libfabric and the C library are, see {@link Needed}. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsFabric.Condition.class)
@interface NeedsFabric {
  /** Asks the provider. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      String missing = FabricBackend.missing();
      return Needed.condition(
          "fabric", missing == null, missing == null ? "libfabric is here" : missing);
    }
  }
}
