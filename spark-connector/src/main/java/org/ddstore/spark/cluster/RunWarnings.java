// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.resource.ResourceProfile;
import org.ddstore.spark.types.OptionKeys;

/** Warnings about the configuration, computed before ranks run. */
public final class RunWarnings {
  private static final String WAIT = "spark.locality.wait";
  private static final String WAIT_FOR_EXECUTOR = "spark.locality.wait.process";
  private static final String DEFAULT_WAIT = "3s";
  private static final String AUTHENTICATE = "spark.authenticate";

  private RunWarnings() {}

  /**
   * Returns the warnings of runs.
   *
   * @param ranks as the user has set them; the default takes all slots on purpose
   */
  public static List<String> of(SparkContext context, ResourceProfile profile, OptionalInt ranks) {
    return of(ranks, ClusterFacts.of(context, profile).slots(), context.getConf());
  }

  static List<String> of(OptionalInt ranks, int slots, SparkConf conf) {
    Optional<String> ofSlots =
        ranks.isPresent() ? ofSlots(ranks.getAsInt(), slots) : Optional.empty();
    return Stream.of(ofSlots, ofLocality(conf)).flatMap(Optional::stream).toList();
  }

  public static Optional<String> ofSlots(int ranks, int slots) {
    if (ranks < slots) {
      return Optional.empty();
    }
    return Optional.of(
        "%s: while %s every other job of the application waits, including queries of resident stores; %s"
            .formatted(
                slots > 1
                    ? "%d ranks take all %d slots".formatted(ranks, slots)
                    : "1 rank takes the only slot",
                slots > 1 ? "they run" : "it runs",
                slots > 1
                    ? "%s=%d leaves one free".formatted(OptionKeys.SETTING_RANKS, slots - 1)
                    : "add a slot to keep one free"));
  }

  /**
   * Returns a warning if Spark does not authenticate connections. That includes masters of one
   * host, whose ports are open to its other users, and with {@code local} to other hosts.
   */
  static Optional<String> ofAuthentication(String master, SparkConf conf) {
    if (conf.getBoolean(AUTHENTICATE, false)) {
      return Optional.empty();
    }
    return Optional.of(
        "setting %s is false: any process that can connect to %s, also of other users of the host, can fetch a task with the token of a store, and read the rows; set %s=true%s, or restrict these ports"
            .formatted(
                AUTHENTICATE,
                isLocal(master) ? "the driver" : "the driver or an executor",
                AUTHENTICATE,
                makesSecret(master) ? "" : " and %s.secret".formatted(AUTHENTICATE)));
  }

  private static boolean isLocal(String master) {
    return master.equals("local") || master.startsWith("local[");
  }

  /** Returns whether Spark itself makes the secret of an application. */
  private static boolean makesSecret(String master) {
    return isLocal(master) || master.startsWith("yarn") || master.startsWith("k8s:");
  }

  /** Returns a warning if Spark delays ranks whose executor has no free slot. */
  public static Optional<String> ofLocality(SparkConf conf) {
    String wait = conf.get(WAIT_FOR_EXECUTOR, conf.get(WAIT, DEFAULT_WAIT));
    if (JavaUtils.timeStringAsMs(wait) <= 0) {
      return Optional.empty();
    }
    return Optional.of(
        "setting %s is %s: if the executor of a rank has no free slot, Spark waits this long before it runs the rank elsewhere; set %s=0 when the application starts"
            .formatted(conf.contains(WAIT_FOR_EXECUTOR) ? WAIT_FOR_EXECUTOR : WAIT, wait, WAIT));
  }
}
