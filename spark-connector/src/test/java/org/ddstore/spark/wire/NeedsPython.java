// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs where there is Python with NumPy and PyTorch, see {@link Needed}. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsPython.Condition.class)
public @interface NeedsPython {
  /** Looks for the modules. */
  final class Condition implements ExecutionCondition {
    private static final String LOOK =
        "import sys; from importlib.util import find_spec;"
            + " sys.exit(sys.version_info < (3, 10)"
            + " or not all(map(find_spec, ('numpy', 'torch'))))";

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      boolean isThere = isThere();
      String found =
          isThere
              ? Needed.PYTHON
              : Needed.PYTHON
                  + " is missing, before 3.10, or without NumPy or PyTorch: install python3-numpy and python3-torch";
      return Needed.condition("Python", isThere, found);
    }

    private static boolean isThere() {
      try {
        return new ProcessBuilder(Needed.PYTHON, "-c", LOOK).start().waitFor() == 0;
      } catch (IOException e) {
        return false;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
  }
}
