// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.network.util.ByteUnit;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.status.api.v1.ExecutorSummary;
import org.ddstore.types.DDStoreException;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The driver's knowledge of the executors of an application.
 *
 * @param isLocal true if the driver is the only executor, in one JVM
 * @param taskCpus cores per task
 * @param slots number of tasks of the resource profile that can run at the same time
 * @param hasDynamicAllocation true if Spark adds and removes executors, which barrier stages forbid
 * @param heapBytes heap of one executor
 * @param overheadBytes memory of its container beside the heap; null without a container
 */
public record ClusterFacts(
    String master,
    boolean isLocal,
    String driverHost,
    List<Executor> executors,
    int taskCpus,
    int slots,
    boolean hasDynamicAllocation,
    long heapBytes,
    Long overheadBytes) {

  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,\\s*(\\d+)\\s*,.*");
  private static final long MIN_OVERHEAD_BYTES = 384L << 20;
  private static final double OVERHEAD_FACTOR = 0.1;
  private static final int POLL_MS = 50;
  private static final Duration SETTLED = Duration.ofSeconds(2);

  public record Executor(String id, String host, int cores) implements Serializable {}

  public ClusterFacts {
    executors = List.copyOf(executors);
  }

  /** Returns the current facts for the default resource profile. */
  public static ClusterFacts of(SparkContext context) {
    return of(context, context.resourceProfileManager().defaultResourceProfile());
  }

  public static ClusterFacts of(SparkContext context, ResourceProfile profile) {
    SparkConf conf = context.getConf();
    // The list includes the driver, which runs tasks only in local mode.
    List<Executor> executors =
        CollectionConverters.asJava(context.statusStore().executorList(true)).stream()
            .filter(summary -> context.isLocal() == summary.id().equals("driver"))
            .map(ClusterFacts::executor)
            .toList();
    return new ClusterFacts(
        context.master(),
        context.isLocal(),
        conf.get("spark.driver.host", "localhost"),
        executors,
        taskCpus(conf, profile),
        context.maxNumConcurrentTasks(profile),
        !context.isLocal() && conf.getBoolean("spark.dynamicAllocation.enabled", false),
        context.isLocal()
            ? Runtime.getRuntime().maxMemory()
            : conf.getSizeAsBytes("spark.executor.memory", "1g"),
        overheadBytes(context.master(), conf));
  }

  private static Executor executor(ExecutorSummary summary) {
    // There is no port before the block manager has registered, and an IPv6 host contains colons.
    String host = summary.hostPort().replaceFirst(":\\d+$", "");
    return new Executor(summary.id(), host, summary.totalCores());
  }

  private static int taskCpus(SparkConf conf, ResourceProfile profile) {
    return profile.getTaskCpus().isDefined()
        ? ((Number) profile.getTaskCpus().get()).intValue()
        : conf.getInt("spark.task.cpus", 1);
  }

  /** Returns the overhead that Spark computes for containers of YARN and Kubernetes, or null. */
  static Long overheadBytes(String master, SparkConf conf) {
    if (!isContainerMaster(master)) {
      return null;
    }
    if (conf.contains("spark.executor.memoryOverhead")) {
      return mebibytes(conf.get("spark.executor.memoryOverhead"));
    }
    double factor = conf.getDouble("spark.executor.memoryOverheadFactor", OVERHEAD_FACTOR);
    long minBytes = mebibytes(conf.get("spark.executor.minMemoryOverhead", "384m"));
    return Math.max(minBytes, (long) (factor * conf.getSizeAsBytes("spark.executor.memory", "1g")));
  }

  private static boolean isContainerMaster(String master) {
    return master.startsWith("yarn") || master.startsWith("k8s:");
  }

  /** Converts a memory setting to bytes; without a unit, Spark reads it in mebibytes. */
  private static long mebibytes(String text) {
    return ByteUnit.MiB.toBytes(JavaUtils.byteStringAsMb(text));
  }

  /** Returns Spark's default allowance for the JVM itself: threads, code and network buffers. */
  long jvmOverheadBytes() {
    return Math.max(MIN_OVERHEAD_BYTES, (long) (OVERHEAD_FACTOR * heapBytes));
  }

  int cores() {
    return executors.stream().mapToInt(Executor::cores).sum();
  }

  /**
   * Waits until {@code ranks} slots or all slots of the application are available, or until the
   * timeout; the caller checks the result. If the final number of slots is unknown, the wait ends
   * after two seconds without a new slot. Blocks. Called on the driver.
   *
   * @param ranks number of slots to wait for; empty for all that the application has requested
   */
  public static ClusterFacts await(
      SparkContext context, ResourceProfile profile, OptionalInt ranks, Duration timeout) {
    OptionalInt maxCores = coresAskedFor(context.master(), context.getConf());
    ClusterFacts facts = of(context, profile);
    long startNs = System.nanoTime();
    long changeNs = startNs;
    while (!facts.isLocal && System.nanoTime() - startNs < timeout.toNanos()) {
      boolean isSettled = System.nanoTime() - changeNs > SETTLED.toNanos();
      if (facts.isComplete(context, ranks, maxCores, isSettled)) {
        return facts;
      }
      pause("executors register");
      ClusterFacts before = facts;
      facts = of(context, profile);
      if (facts.slots != before.slots) {
        changeNs = System.nanoTime();
      }
    }
    return facts;
  }

  /**
   * Sleeps for one poll interval.
   *
   * @param purpose event to wait for, for the message of an interrupt: {@code executors register}
   */
  public static void pause(String purpose) {
    try {
      Thread.sleep(POLL_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while " + purpose, e);
    }
  }

  /**
   * Returns whether a longer wait cannot add slots.
   *
   * @param isSettled true if the number of slots has been constant for two seconds
   */
  private boolean isComplete(
      SparkContext context, OptionalInt ranks, OptionalInt maxCores, boolean isSettled) {
    // The list of executors lags behind the count of slots.
    boolean isListed = slots > 0 && cores() / taskCpus >= slots;
    if (!isListed) {
      return false;
    }
    if (ranks.isPresent() && slots >= ranks.getAsInt()) {
      return true;
    }
    if (maxCores.isPresent()) {
      return liveCores(context) >= maxCores.getAsInt();
    }
    return ranks.isEmpty() && isSettled;
  }

  /** Counts cores of live executors: ended executors stay in the list for some seconds. */
  private int liveCores(SparkContext context) {
    return executors.stream()
        .filter(executor -> LiveExecutors.takesTasks(context, executor.id()))
        .mapToInt(Executor::cores)
        .sum();
  }

  /**
   * Returns whether more executors are expected, if the number that the application requested is
   * known. {@code spark.cores.max} does not count, because it may exceed the cluster.
   */
  boolean isGrowing(SparkConf conf) {
    OptionalInt asked =
        conf.contains("spark.cores.max") ? OptionalInt.empty() : coresAskedFor(master, conf);
    return asked.isPresent() && cores() < asked.getAsInt();
  }

  /** Returns the number of cores of all requested executors, if the configuration defines it. */
  static OptionalInt coresAskedFor(String master, SparkConf conf) {
    Matcher localCluster = LOCAL_CLUSTER.matcher(master);
    if (localCluster.matches()) {
      return OptionalInt.of(
          Integer.parseInt(localCluster.group(1)) * Integer.parseInt(localCluster.group(2)));
    }
    if (conf.contains("spark.cores.max")) {
      return OptionalInt.of(conf.getInt("spark.cores.max", 1));
    }
    if (isContainerMaster(master)) {
      return OptionalInt.of(
          conf.getInt("spark.executor.instances", 2) * conf.getInt("spark.executor.cores", 1));
    }
    return OptionalInt.empty();
  }
}
