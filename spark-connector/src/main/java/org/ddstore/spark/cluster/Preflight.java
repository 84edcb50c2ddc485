// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.backend.ExecutorSlots;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.spark.wire.connection.ConnectionSettings;
import org.ddstore.types.Backing;
import org.ddstore.types.Plural;

/**
 * The checks on the driver before a barrier job. They find everything that would make the job wait
 * or fail later, and report all problems together.
 *
 * <p>Spark itself checks the slots of a barrier stage 40 times, every 15 seconds, and reports a
 * missing slot only after ten minutes. It reads the settings {@code
 * spark.scheduler.barrier.maxConcurrentTasksCheck.interval} and {@code .maxFailures} when the
 * context is created, so they cannot be changed here. Therefore the job is submitted only after
 * this class has found its slots.
 */
public final class Preflight {
  /**
   * Heap that ranks need while they wait for each other: of an executor, of each of its ranks, and
   * of each pair of such a rank and any rank. Lower bounds of the live heap of executors of {@code
   * demo}, measured on 2026-11-27 with Spark 4.2: 58 MB with 64 of 128 ranks, 178 MB with 256 of
   * 512 ranks.
   */
  private static final long EXECUTOR_HEAP_BYTES = 32L << 20;

  private static final long RANK_HEAP_BYTES = 256L << 10;
  private static final long PAIR_HEAP_BYTES = 512;

  private Preflight() {}

  /** Checks like {@link #check(JavaSparkContext, int, long, Settings)}, and the session's type. */
  public static ClusterFacts check(
      SparkSession session, int ranks, long estimatedBytes, Settings settings) {
    ClassicSpark.require(session);
    return check(
        JavaSparkContext.fromSparkContext(session.sparkContext()), ranks, estimatedBytes, settings);
  }

  /** Checks with the default resource profile and without resident stores. */
  public static ClusterFacts check(
      JavaSparkContext context, int ranks, long estimatedBytes, Settings settings) {
    SparkContext scala = context.sc();
    return check(
        scala,
        scala.resourceProfileManager().defaultResourceProfile(),
        ranks,
        estimatedBytes,
        Map.of(),
        settings);
  }

  /**
   * Waits for executors that still register, then checks.
   *
   * @param estimatedBytes size of the data; 0 if unknown
   * @param residentBytes memory of resident stores, by executor
   * @return the facts of the cluster
   * @throws PreflightException if a check fails; it names everything that is missing
   */
  public static ClusterFacts check(
      SparkContext context,
      ResourceProfile profile,
      int ranks,
      long estimatedBytes,
      Map<String, Long> residentBytes,
      Settings settings) {
    ClusterFacts cluster =
        ClusterFacts.await(context, profile, OptionalInt.of(ranks), settings.slotsTimeout());
    Path directory = settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
    LostExecutorFiles.watch(context, directory);
    ProcessDirectory.sweepDead(directory); // files of dead processes count as free space
    HostFacts driver = HostProbe.read(directory);
    List<Problem> problems =
        problems(
            cluster, driver, ranks, estimatedBytes, minimumOf(residentBytes, cluster), settings);
    problems.addAll(problems(context.getConf()));
    if (!problems.isEmpty()) {
      throw new PreflightException(
          "cannot run %s here:".formatted(Plural.of(ranks, "rank")), problems);
    }
    return cluster;
  }

  public static int ranks(JavaSparkContext context, Settings settings) {
    SparkContext scala = context.sc();
    return ranks(scala, scala.resourceProfileManager().defaultResourceProfile(), settings);
  }

  /**
   * Returns the number of ranks to start: the setting, else all slots of registered executors.
   * Waits for executors for at most {@code spark.ddstore.slotsTimeout}.
   *
   * @throws PreflightException if no slot is available
   */
  public static int ranks(SparkContext context, ResourceProfile profile, Settings settings) {
    if (settings.ranks().isPresent()) {
      return settings.ranks().getAsInt();
    }
    ClusterFacts cluster =
        ClusterFacts.await(context, profile, OptionalInt.empty(), settings.slotsTimeout());
    if (cluster.slots() == 0) {
      throw new PreflightException("cannot run a rank here:", List.of(tooFewSlots(cluster, 1)));
    }
    return cluster.slots();
  }

  /**
   * Returns the minimum over all executors of the memory of resident stores, in bytes. At least
   * this much is occupied in the executor that gets the most new rows.
   */
  public static long minimumOf(Map<String, Long> byExecutor, ClusterFacts cluster) {
    return cluster.executors().stream()
        .mapToLong(executor -> byExecutor.getOrDefault(executor.id(), 0L))
        .min()
        .orElse(0);
  }

  /**
   * Returns all problems of known facts.
   *
   * @param residentBytes memory that resident stores already occupy in each executor
   */
  public static List<Problem> problems(
      ClusterFacts cluster,
      HostFacts driver,
      int ranks,
      long estimatedBytes,
      long residentBytes,
      Settings settings) {
    List<Problem> problems = new ArrayList<>();
    if (cluster.slots() < ranks) {
      problems.add(tooFewSlots(cluster, ranks));
    }
    if (cluster.hasDynamicAllocation()) {
      problems.add(
          new Problem(
              "dynamic allocation is enabled, and Spark refuses barrier stages with it"
                  + " (SPARK-24942)",
              "spark.dynamicAllocation.enabled=false, and spark.executor.instances as needed"));
    }
    TransportBackends.configured(settings.transport())
        .ifPresent(backend -> problems.addAll(backend.preflight(ranks, slotsOf(cluster))));
    addDirectory(problems, cluster, driver, settings);
    if (settings.checkMemory()) {
      addHeap(problems, cluster, ranks);
    }
    if (settings.checkMemory() && estimatedBytes > 0) {
      addSharedMemory(problems, cluster, driver, ranks, estimatedBytes, settings);
      addOverhead(problems, cluster, ranks, estimatedBytes, residentBytes, settings);
    }
    return problems;
  }

  /** Returns the problems of settings with which executors would fail. */
  public static List<Problem> problems(SparkConf conf) {
    return ConnectionSettings.wrong(conf).stream()
        .map(
            wrong ->
                new Problem(
                    "setting %s=%s is not %s".formatted(wrong.key(), wrong.value(), wrong.range()),
                    "set a legal value, or none"))
        .toList();
  }

  private static Problem tooFewSlots(ClusterFacts cluster, int ranks) {
    String missing =
        "%s %s, %d available: %s, %s, %s per task"
            .formatted(
                Plural.of(ranks, "rank needs", "ranks need"),
                Plural.of(ranks, "slot"),
                cluster.slots(),
                Plural.of(cluster.executors().size(), "executor"),
                Plural.of(cluster.cores(), "core"),
                Plural.of(cluster.taskCpus(), "CPU"));
    String more =
        cluster.isLocal()
            ? "local[%d] as master".formatted(ranks * cluster.taskCpus())
            : "more of spark.executor.instances, spark.executor.cores or spark.cores.max";
    String fewer =
        cluster.slots() > 0
            ? "%s=%d, or ".formatted(OptionKeys.SETTING_RANKS, cluster.slots())
            : "wait longer for executors with " + OptionKeys.SETTING_SLOTS_TIMEOUT + ", or ";
    String lighter = cluster.taskCpus() > 1 ? ", or spark.task.cpus=1" : "";
    return new Problem(missing, fewer + more + lighter);
  }

  private static ExecutorSlots slotsOf(ClusterFacts cluster) {
    int maxPerExecutor =
        cluster.executors().stream()
            .mapToInt(executor -> executor.cores() / cluster.taskCpus())
            .max()
            .orElse(0);
    return new ExecutorSlots(maxPerExecutor, cluster.taskCpus(), cluster.isLocal());
  }

  private static void addDirectory(
      List<Problem> problems, ClusterFacts cluster, HostFacts driver, Settings settings) {
    if (settings.backing() == Backing.FILE && settings.directory().isEmpty()) {
      problems.add(
          new Problem(
              OptionKeys.SETTING_BACKING + "=file, but no directory is set",
              OptionKeys.SETTING_DIRECTORY + "=<a directory on a disk of every executor>"));
      return;
    }
    settings
        .segmentDirectory()
        .filter(directory -> executorsOn(cluster) > 0)
        .filter(directory -> !Files.isDirectory(directory) || !Files.isWritable(directory))
        .ifPresent(directory -> problems.add(MemoryCheck.noDirectory(directory, driver)));
    if (settings.segmentDirectory().isPresent() && executorsOn(cluster) > 0) {
      LocalDirectory.problem(driver).ifPresent(problems::add);
    }
  }

  /** Checks the driver's host only; {@link MemoryCheck} checks other hosts. */
  private static void addSharedMemory(
      List<Problem> problems,
      ClusterFacts cluster,
      HostFacts driver,
      int ranks,
      long totalBytes,
      Settings settings) {
    if (settings.backing() == Backing.DIRECT || driver.sharedMemoryFreeBytes() == null) {
      return;
    }
    int ranksHere = Math.max(0, ranks - slotsElsewhere(cluster));
    long bytesHere = share(totalBytes, ranksHere, ranks);
    if (bytesHere > driver.sharedMemoryFreeBytes()) {
      problems.add(
          MemoryCheck.directoryTooSmall(
              Plural.of(ranksHere, "rank on this host needs", "ranks on this host need"),
              bytesHere,
              driver,
              settings));
    }
  }

  /** Refuses ranks whose heap does not suffice without a scan: scans wait until they fit. */
  private static void addHeap(List<Problem> problems, ClusterFacts cluster, int ranks) {
    if (cluster.executors().isEmpty()) {
      return;
    }
    int ranksEach = ranksEach(cluster, ranks);
    long neededBytes =
        EXECUTOR_HEAP_BYTES + ranksEach * (RANK_HEAP_BYTES + ranks * PAIR_HEAP_BYTES);
    if (neededBytes > cluster.heapBytes()) {
      problems.add(
          new Problem(
              "%s a heap of %s without their rows; the heap of an executor is %s"
                  .formatted(
                      Plural.of(ranksEach, "rank per executor needs", "ranks per executor need"),
                      ByteSize.format(neededBytes),
                      ByteSize.format(cluster.heapBytes())),
              "%s=%s, lower %s, or more executors"
                  .formatted(
                      cluster.isLocal() ? "spark.driver.memory" : "spark.executor.memory",
                      ByteSize.toSetting(neededBytes),
                      OptionKeys.SETTING_RANKS)));
    }
  }

  private static int ranksEach(ClusterFacts cluster, int ranks) {
    int executors = cluster.executors().size();
    return (ranks + executors - 1) / executors;
  }

  private static void addOverhead(
      List<Problem> problems,
      ClusterFacts cluster,
      int ranks,
      long totalBytes,
      long residentBytes,
      Settings settings) {
    if (cluster.overheadBytes() == null
        || cluster.executors().isEmpty()
        || settings.backing() == Backing.FILE) {
      return;
    }
    int ranksEach = ranksEach(cluster, ranks);
    long segmentBytes = share(totalBytes, ranksEach, ranks);
    long neededBytes = segmentBytes + residentBytes + cluster.jvmOverheadBytes();
    if (neededBytes > cluster.overheadBytes()) {
      problems.add(
          new Problem(
              ("%s %s%s beside the heap and the JVM needs %s there; the"
                      + " memoryOverhead of the container is %s")
                  .formatted(
                      Plural.of(ranksEach, "rank per executor needs", "ranks per executor need"),
                      ByteSize.format(segmentBytes),
                      residentBytes == 0
                          ? ""
                          : " and resident stores %s".formatted(ByteSize.format(residentBytes)),
                      ByteSize.format(cluster.jvmOverheadBytes()),
                      ByteSize.format(cluster.overheadBytes())),
              MemoryCheck.dropRemedy(residentBytes)
                  + "spark.executor.memoryOverhead=%s, or %s=file"
                      .formatted(ByteSize.toSetting(neededBytes), OptionKeys.SETTING_BACKING)));
    }
  }

  private static long executorsOn(ClusterFacts cluster) {
    return cluster.executors().stream()
        .filter(executor -> cluster.isLocal() || executor.host().equals(cluster.driverHost()))
        .count();
  }

  /**
   * Returns an upper bound of the slots on other hosts, so that the bytes of this host are never
   * overestimated and no load that fits is refused.
   */
  private static int slotsElsewhere(ClusterFacts cluster) {
    return cluster.executors().stream()
        .filter(executor -> !cluster.isLocal() && !executor.host().equals(cluster.driverHost()))
        .mapToInt(executor -> executor.cores() / cluster.taskCpus())
        .sum();
  }

  private static long share(long totalBytes, int part, int of) {
    return (long) Math.ceil((double) totalBytes * part / of);
  }
}
