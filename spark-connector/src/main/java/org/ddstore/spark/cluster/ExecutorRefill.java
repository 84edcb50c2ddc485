// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;

/**
 * The applications whose cluster manager has yet to replace executors that were ended on purpose,
 * so that slots are missing for a while. Used on the driver. Thread-safe.
 */
public final class ExecutorRefill {
  private static final Set<SparkContext> RUNNING =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private ExecutorRefill() {}

  public static void begin(SparkContext context) {
    RUNNING.add(context);
  }

  /** Returns whether slots of an application may be missing, because executors were ended. */
  public static boolean isRunning(SparkContext context) {
    return RUNNING.contains(context);
  }

  public static void end(SparkContext context) {
    RUNNING.remove(context);
  }
}
