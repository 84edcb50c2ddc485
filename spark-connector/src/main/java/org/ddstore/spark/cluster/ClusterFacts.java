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
 * What the driver knows of the executors of an application.
 *
 * @param isLocal one JVM: the driver is the only executor
 * @param taskCpus cores that one task takes
 * @param slots tasks of the resource profile that run at the same time
 * @param hasDynamicAllocation executors come and go, which a barrier stage does not allow
 * @param heapBytes heap of one executor
 * @param overheadBytes memory that its container leaves beside the heap; null without a container
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

  /** One executor as it registered. */
  public record Executor(String id, String host, int cores) implements Serializable {}

  public ClusterFacts {
    executors = List.copyOf(executors);
  }

  /** The facts as they are now, for the default resource profile. */
  public static ClusterFacts of(SparkContext context) {
    return of(context, context.resourceProfileManager().defaultResourceProfile());
  }

  public static ClusterFacts of(SparkContext context, ResourceProfile profile) {
    SparkConf conf = context.getConf();
    // The list has the driver, too, which runs tasks only where it is the one JVM.
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
        conf.getSizeAsBytes("spark.executor.memory", "1g"),
        overheadBytes(context.master(), conf));
  }

  private static Executor executor(ExecutorSummary summary) {
    // Without a port until its block manager has registered, and an IPv6 host has colons, too.
    String host = summary.hostPort().replaceFirst(":\\d+$", "");
    return new Executor(summary.id(), host, summary.totalCores());
  }

  private static int taskCpus(SparkConf conf, ResourceProfile profile) {
    return profile.getTaskCpus().isDefined()
        ? ((Number) profile.getTaskCpus().get()).intValue()
        : conf.getInt("spark.task.cpus", 1);
  }

  /** Spark's own arithmetic for the containers of YARN and Kubernetes. */
  static Long overheadBytes(String master, SparkConf conf) {
    if (!isContainerMaster(master)) {
      return null;
    }
    if (conf.contains("spark.executor.memoryOverhead")) {
      return mebibytes(conf.get("spark.executor.memoryOverhead"));
    }
    double factor = conf.getDouble("spark.executor.memoryOverheadFactor", OVERHEAD_FACTOR);
    long least = mebibytes(conf.get("spark.executor.minMemoryOverhead", "384m"));
    return Math.max(least, (long) (factor * conf.getSizeAsBytes("spark.executor.memory", "1g")));
  }

  private static boolean isContainerMaster(String master) {
    return master.startsWith("yarn") || master.startsWith("k8s:");
  }

  /** Spark reads these two in mebibytes where no unit is given. */
  private static long mebibytes(String text) {
    return ByteUnit.MiB.toBytes(JavaUtils.byteStringAsMb(text));
  }

  /** What Spark's default leaves to the JVM itself: threads, code, network buffers. */
  long jvmOverheadBytes() {
    return Math.max(MIN_OVERHEAD_BYTES, (long) (OVERHEAD_FACTOR * heapBytes));
  }

  int cores() {
    return executors.stream().mapToInt(Executor::cores).sum();
  }

  /**
   * Waits until {@code ranks} slots are there, or as many as the application can ever have, or the
   * time is over; the caller looks which. Where nobody said how many there will be, two seconds
   * without a new one count as the end. Blocks; called by the driver.
   *
   * @param ranks slots wanted; empty: all that the application asked for
   */
  public static ClusterFacts await(
      SparkContext context, ResourceProfile profile, OptionalInt ranks, Duration timeout) {
    OptionalInt mostCores = coresAskedFor(context.master(), context.getConf());
    ClusterFacts facts = of(context, profile);
    long startNs = System.nanoTime();
    long changeNs = startNs;
    while (!facts.isLocal && System.nanoTime() - startNs < timeout.toNanos()) {
      boolean isSettled = System.nanoTime() - changeNs > SETTLED.toNanos();
      if (facts.isComplete(context, ranks, mostCores, isSettled)) {
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
   * Waits until it is worth to look at the executors again.
   *
   * @param purpose what is waited for, for a message: {@code executors register}
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
   * Whether waiting longer is of no use.
   *
   * @param isSettled the number of slots has not changed for a while
   */
  private boolean isComplete(
      SparkContext context, OptionalInt ranks, OptionalInt mostCores, boolean isSettled) {
    // The list of executors follows the count of slots after a moment.
    boolean isListed = slots > 0 && cores() / taskCpus >= slots;
    if (!isListed) {
      return false;
    }
    if (ranks.isPresent() && slots >= ranks.getAsInt()) {
      return true;
    }
    if (mostCores.isPresent()) {
      return liveCores(context) >= mostCores.getAsInt();
    }
    return ranks.isEmpty() && isSettled;
  }

  /** The list of executors has those that have just ended for some seconds. */
  private int liveCores(SparkContext context) {
    return executors.stream()
        .filter(executor -> LiveExecutors.takesTasks(context, executor.id()))
        .mapToInt(Executor::cores)
        .sum();
  }

  /**
   * Whether more executors are to come, as far as the application says how many it has asked for.
   * {@code spark.cores.max} does not: it may be more than there is.
   */
  boolean isGrowing(SparkConf conf) {
    OptionalInt asked =
        conf.contains("spark.cores.max") ? OptionalInt.empty() : coresAskedFor(master, conf);
    return asked.isPresent() && cores() < asked.getAsInt();
  }

  /** The cores that the application will have when all executors are there, if it says so. */
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
