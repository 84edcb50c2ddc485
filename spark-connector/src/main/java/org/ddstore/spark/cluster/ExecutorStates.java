// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.Collection;
import java.util.Set;
import org.apache.spark.SparkContext;

/** What the scheduler of an application knows of executors that were registered once. */
public interface ExecutorStates {
  /** Returns the executors of a collection that are gone. */
  Set<String> ended(Collection<String> executors);

  /** Returns the executors of a collection that serve rows until they end, and take no tasks. */
  Set<String> leaving(Collection<String> executors);

  /** Returns whether an executor still serves its rows. */
  boolean serves(String executorId);

  /** Returns the knowledge of Spark's scheduler, see {@link LiveExecutors}. */
  static ExecutorStates of(SparkContext context) {
    return new ExecutorStates() {
      @Override
      public Set<String> ended(Collection<String> executors) {
        return LiveExecutors.ended(context, executors);
      }

      @Override
      public Set<String> leaving(Collection<String> executors) {
        return LiveExecutors.leaving(context, executors);
      }

      @Override
      public boolean serves(String executorId) {
        return LiveExecutors.serves(context, executorId);
      }
    };
  }
}
