package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.resource.ResourceProfile;

/** What is better known before the ranks of a resident store run. */
final class RunWarnings {
  private static final String WAIT = "spark.locality.wait";
  private static final String WAIT_FOR_EXECUTOR = "spark.locality.wait.process";
  private static final String DEFAULT_WAIT = "3s";

  private RunWarnings() {}

  static List<String> of(SparkContext context, ResourceProfile profile, int ranks) {
    return of(ranks, ClusterFacts.of(context, profile).slots(), context.getConf());
  }

  static List<String> of(int ranks, int slots, SparkConf conf) {
    List<String> warnings = new ArrayList<>();
    if (ranks >= slots) {
      warnings.add(
          "%d ranks take all %d slots: while they run every other job of the application waits, queries of this store among them; spark.ddstore.ranks=%d leaves one free"
              .formatted(ranks, slots, Math.max(1, slots - 1)));
    }
    String wait = conf.get(WAIT_FOR_EXECUTOR, conf.get(WAIT, DEFAULT_WAIT));
    if (JavaUtils.timeStringAsMs(wait) > 0) {
      warnings.add(
          "%s is %s: when an executor has no free slot for a rank, the start waits so long before the rank goes elsewhere; it is read when the application starts, %s=0 is best"
              .formatted(conf.contains(WAIT_FOR_EXECUTOR) ? WAIT_FOR_EXECUTOR : WAIT, wait, WAIT));
    }
    return warnings;
  }
}
