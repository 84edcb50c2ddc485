// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.ddstore.spark.types.OptionKeys;

/**
 * The description of jobs in Spark's UI: "DDStore", the store and the action, after the user's own
 * description if there is one. It holds for the jobs that the thread submits during some work.
 */
public final class JobDescription {
  private static final String SHOWN = "spark.job.description";
  private static final String OURS = OptionKeys.SETTING_PREFIX + "internal.description";

  private JobDescription() {}

  /** Describes jobs on a store; replaces the description of an enclosing action of ours. */
  public static <T> T ofStore(SparkContext context, String store, String action, Supplier<T> work) {
    return with(context, "DDStore \"%s\": %s".formatted(store, action), work);
  }

  /** Describes jobs without a store that has a name. */
  public static <T> T of(SparkContext context, String action, Supplier<T> work) {
    return with(context, "DDStore: " + action, work);
  }

  /** Adds a detail, such as the attempt, to the description of the enclosing action. */
  public static <T> T detail(SparkContext context, String detail, Supplier<T> work) {
    String ours = context.getLocalProperty(OURS);
    return ours == null ? of(context, detail, work) : with(context, ours + ", " + detail, work);
  }

  private static <T> T with(SparkContext context, String text, Supplier<T> work) {
    String shown = context.getLocalProperty(SHOWN);
    String ours = context.getLocalProperty(OURS);
    context.setLocalProperty(SHOWN, users(shown, ours) + text);
    context.setLocalProperty(OURS, text);
    try {
      return work.get();
    } finally {
      context.setLocalProperty(SHOWN, shown);
      context.setLocalProperty(OURS, ours);
    }
  }

  /** Returns the user's part of a description. */
  private static String users(String shown, String ours) {
    if (shown == null) {
      return "";
    }
    return ours != null && shown.endsWith(ours)
        ? shown.substring(0, shown.length() - ours.length())
        : shown + " | ";
  }
}
