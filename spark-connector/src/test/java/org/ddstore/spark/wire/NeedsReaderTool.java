// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs where {@code libddstore_reader} was built, see {@link Needed}. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsReaderTool.Condition.class)
public @interface NeedsReaderTool {
  /** Looks for the program. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      boolean isBuilt = ReaderTool.PROGRAM.toFile().canExecute();
      String found =
          isBuilt
              ? ReaderTool.PROGRAM.toString()
              : ReaderTool.PROGRAM
                  + " was not built: install libjansson-dev and libsodium-dev, and build native";
      return Needed.condition("libddstore_reader", isBuilt, found);
    }
  }
}
