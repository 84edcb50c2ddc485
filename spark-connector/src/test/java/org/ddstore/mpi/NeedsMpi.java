// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.contract.Needed;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs where MPI can be used, see {@link Needed}. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsMpi.Condition.class)
public @interface NeedsMpi {
  /** Asks once. */
  final class Condition implements ExecutionCondition {
    private static final Availability HERE = Mpi.availability();

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Needed.condition("MPI", HERE.isAvailable(), HERE.detail());
    }
  }
}
