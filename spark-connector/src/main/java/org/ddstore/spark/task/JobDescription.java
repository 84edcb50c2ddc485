// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import org.apache.spark.SparkContext;
import org.ddstore.spark.types.OptionKeys;

/**
 * The description, in Spark's UI, of the jobs that a thread submits until this object is closed:
 * "DDStore", the store and the action, after the user's own description if there is one.
 */
public final class JobDescription implements AutoCloseable {
  private static final String SHOWN = "spark.job.description";
  private static final String OURS = OptionKeys.SETTING_PREFIX + "internal.description";

  private final SparkContext context;
  private final String shownBefore;
  private final String oursBefore;

  private JobDescription(SparkContext context, String text) {
    this.context = context;
    this.shownBefore = context.getLocalProperty(SHOWN);
    this.oursBefore = context.getLocalProperty(OURS);
    set(users() + text, text);
  }

  /** Describes jobs on a store; replaces the description of an enclosing action of ours. */
  public static JobDescription ofStore(SparkContext context, String store, String action) {
    return new JobDescription(context, "DDStore \"%s\": %s".formatted(store, action));
  }

  /** Describes jobs without a store that has a name. */
  public static JobDescription of(SparkContext context, String action) {
    return new JobDescription(context, "DDStore: " + action);
  }

  /** Adds a detail, such as the attempt, to the description of the enclosing action. */
  public static JobDescription detail(SparkContext context, String detail) {
    String ours = context.getLocalProperty(OURS);
    return ours == null ? of(context, detail) : new JobDescription(context, ours + ", " + detail);
  }

  private String users() {
    if (shownBefore == null) {
      return "";
    }
    return oursBefore != null && shownBefore.endsWith(oursBefore)
        ? shownBefore.substring(0, shownBefore.length() - oursBefore.length())
        : shownBefore + " | ";
  }

  private void set(String shown, String ours) {
    context.setLocalProperty(SHOWN, shown);
    context.setLocalProperty(OURS, ours);
  }

  @Override
  public void close() {
    set(shownBefore, oursBefore);
  }
}
