// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.IOMode;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every problem and what is said of it, from facts made up here. */
class PreflightTest {
  private static final Settings DEFAULTS = Settings.of(Map.of());
  private static final long GIB = 1L << 30;

  @TempDir private Path directory;

  @Test
  void reportsNoProblemForASufficientCluster() {
    assertThat(problems(cluster(2, 2, "here"), 4, GIB, onDisk())).isEmpty();
  }

  @Test
  void namesInvalidConnectionSettings() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.ddstore.io.mode", "fast")
            .set("spark.ddstore.io.serverThreads", "many")
            .set("spark.ddstore.io.clientThreads", "-1")
            .set("spark.ddstore.io.receiveBuffer", "64k")
            .set("spark.ddstore.io.connectionTimeout", "soon")
            .set("spark.ddstore.io.connectionCreationTimeout", "0");

    assertThat(Preflight.problems(conf))
        .extracting(Problem::missing)
        .containsExactly(
            "setting spark.ddstore.io.mode=fast is not one of " + Arrays.toString(IOMode.values()),
            "setting spark.ddstore.io.serverThreads=many is not a whole number of 0 to 256",
            "setting spark.ddstore.io.clientThreads=-1 is not a whole number of 0 to 256",
            "setting spark.ddstore.io.receiveBuffer=64k is not a whole number",
            "setting spark.ddstore.io.connectionTimeout=soon is not a time such as 120s",
            "setting spark.ddstore.io.connectionCreationTimeout=0 is not a time of 1s to 24d, such as 20s");
  }

  @ParameterizedTest
  @CsvSource({
    "serverThreads, 256, true",
    "serverThreads, 257, false",
    "serverThreads, 2147483647, false",
    "clientThreads, 0, true",
    "clientThreads, 257, false"
  })
  void boundsThreadsOfConnections(String name, String threads, boolean isLegal) {
    SparkConf conf = new SparkConf(false).set("spark.ddstore.io." + name, threads);

    assertThat(Preflight.problems(conf)).hasSize(isLegal ? 0 : 1);
  }

  /** One that is the default of another says nothing about that. */
  @Test
  void checksEachConnectionSettingAlone() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.ddstore.io.connectionTimeout", "soon")
            .set("spark.ddstore.io.connectionCreationTimeout", "20s");

    assertThat(Preflight.problems(conf))
        .extracting(Problem::missing)
        .containsExactly(
            "setting spark.ddstore.io.connectionTimeout=soon is not a time such as 120s");
    assertThat(
            Preflight.problems(
                new SparkConf(false).set("spark.ddstore.io.connectionCreationTimeout", "500ms")))
        .as("less than a second is none to Spark")
        .hasSize(1);
  }

  @Test
  void acceptsValidConnectionSettings() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.ddstore.io.mode", "nio")
            .set("spark.ddstore.io.serverThreads", "0")
            .set("spark.ddstore.io.clientThreads", "3")
            .set("spark.ddstore.io.backLog", "-1")
            .set("spark.ddstore.io.sendBuffer", "65536")
            .set("spark.ddstore.io.connectionTimeout", "0")
            .set("spark.ddstore.io.connectionCreationTimeout", "2min")
            .set("spark.shuffle.io.serverThreads", "many");

    assertThat(Preflight.problems(conf)).isEmpty();
    assertThat(Preflight.problems(new SparkConf(false))).isEmpty();
  }

  @Test
  void namesNumbersAndSettingsForTooFewSlots() {
    ClusterFacts cluster =
        new ClusterFacts(
            "spark://a:7077", false, "here", executors(2, 4, "b"), 2, 4, false, GIB, null);

    assertThat(problems(cluster, 6, 0, onDisk()))
        .containsExactly(
            new Problem(
                "6 ranks need 6 slots, 4 available: 2 executors, 8 cores, 2 CPUs per task",
                "spark.ddstore.ranks=4, or more of spark.executor.instances, spark.executor.cores"
                    + " or spark.cores.max, or spark.task.cpus=1"));
  }

  @Test
  void suggestsALongerWaitWithoutExecutors() {
    assertThat(problems(cluster(0, 0, "b"), 1, 0, onDisk()))
        .singleElement()
        .extracting(Problem::remedy)
        .asString()
        .startsWith("wait longer for executors with spark.ddstore.slotsTimeout, or more of");
  }

  @Test
  void rejectsDynamicAllocation() {
    ClusterFacts cluster =
        new ClusterFacts("yarn", false, "here", executors(1, 4, "b"), 1, 4, true, GIB, 9 * GIB);

    assertThat(problems(cluster, 4, 0, onDisk()))
        .containsExactly(
            new Problem(
                "dynamic allocation is enabled, and Spark refuses barrier stages with it"
                    + " (SPARK-24942)",
                "spark.dynamicAllocation.enabled=false, and spark.executor.instances as needed"));
  }

  @Test
  void mpiNeedsAnExecutorForEachRank() {
    Settings mpi = onDisk().with(Setting.TRANSPORT, "mpi");

    assertThat(problems(cluster(4, 1, "here"), 4, 0, mpi)).isEmpty();
    assertThat(problems(cluster(2, 2, "here"), 4, 0, mpi))
        .containsExactly(
            new Problem(
                "MPI allows one rank per JVM, and an executor has 2 slots",
                "4 executors with spark.executor.cores equal to spark.task.cpus (1)"));
  }

  @Test
  void suggestsFilesIfSharedMemoryIsTooSmall() {
    HostFacts host = host(GIB, 4 * GIB, null);

    List<Problem> problems =
        Preflight.problems(cluster(2, 2, "here"), host, 4, 2 * GIB, 0, DEFAULTS);

    assertThat(problems)
        .containsExactly(
            new Problem(
                "4 ranks on this host need 2.00 GiB in /dev/shm, which has 1.00 GiB free of 4.00"
                    + " GiB",
                "a larger mount (mount -o remount,size=2048m /dev/shm; docker run --shm-size; on"
                    + " Kubernetes an emptyDir of medium Memory), or spark.ddstore.backing=file"
                    + " with spark.ddstore.directory on a disk"));
  }

  @Test
  void doesNotApplyTheFactsOfThisHostToOthers() {
    HostFacts host = host(GIB, 4 * GIB, null);

    assertThat(Preflight.problems(cluster(2, 2, "there"), host, 4, 99 * GIB, 0, DEFAULTS))
        .isEmpty();
  }

  @Test
  void rejectsADirectoryOnANetworkFileSystem() {
    HostFacts nfs = host("nfs4", GIB, 4 * GIB, null);

    assertThat(Preflight.problems(cluster(2, 2, "here"), nfs, 4, 0, 0, onDisk()))
        .containsExactly(LocalDirectory.problem(nfs).orElseThrow());
    assertThat(Preflight.problems(cluster(2, 2, "there"), nfs, 4, 0, 0, onDisk())).isEmpty();
  }

  @Test
  void memoryIsNotCheckedIfSwitchedOff() {
    HostFacts host = host(GIB, 4 * GIB, null);
    Settings unchecked = DEFAULTS.with(Setting.CHECK_MEMORY, false);

    assertThat(Preflight.problems(cluster(2, 2, "here"), host, 4, 99 * GIB, 0, unchecked))
        .isEmpty();
    assertThat(Preflight.problems(cluster(2, 2, "here"), host, 4, 0, 0, DEFAULTS)).isEmpty();
  }

  @Test
  void namesTheHeapThatRanksNeed() {
    assertThat(problems(cluster(2, 850, "here"), 1700, 0, onDisk())).isEmpty();
    assertThat(problems(cluster(2, 1024, "here"), 2048, 0, onDisk()))
        .containsExactly(
            new Problem(
                "1,024 ranks per executor need a heap of 1.28 GiB without their rows;"
                    + " the heap of an executor is 1.00 GiB",
                "spark.executor.memory=1312m, lower spark.ddstore.ranks, or more executors"));
  }

  @Test
  void fileBackingNeedsADirectory() {
    Settings files = DEFAULTS.with(Setting.BACKING, Backing.FILE);
    Path missing = directory.resolve("missing");

    assertThat(problems(cluster(1, 4, "there"), 4, 0, files))
        .containsExactly(
            new Problem(
                "spark.ddstore.backing=file, but no directory is set",
                "spark.ddstore.directory=<a directory on a disk of every executor>"));
    assertThat(problems(cluster(1, 4, "here"), 4, 0, files.with(Setting.DIRECTORY, missing)))
        .containsExactly(
            new Problem(
                "path " + missing + " on box is not a directory in which user ann can write",
                "create it on every executor, or set spark.ddstore.directory to another"));
  }

  @Test
  void containersNeedOverheadForShards() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.executor.memory", "8g")
            .set("spark.executor.memoryOverhead", "2000");
    Long overheadBytes = ClusterFacts.overheadBytes("k8s://https://api", conf);
    ClusterFacts cluster =
        new ClusterFacts(
            "k8s://https://api",
            false,
            "a",
            executors(2, 2, "b"),
            1,
            4,
            false,
            8 * GIB,
            overheadBytes);

    assertThat(problems(cluster, 4, 6 * GIB, DEFAULTS))
        .containsExactly(
            new Problem(
                "2 ranks per executor need 3.00 GiB beside the heap and the JVM needs 819.20 MiB"
                    + " there; the memoryOverhead of the container is 1.95 GiB",
                "spark.executor.memoryOverhead=3892m, or spark.ddstore.backing=file"));
    assertThat(problems(cluster, 4, 6 * GIB, onDisk())).as("pages of files do not count").isEmpty();
    assertThat(problems(cluster, 4, GIB, DEFAULTS)).isEmpty();
    assertThat(Preflight.problems(cluster, host(99 * GIB, 99 * GIB, null), 4, GIB, GIB, DEFAULTS))
        .as("beside what is there already")
        .containsExactly(
            new Problem(
                "2 ranks per executor need 512.00 MiB and resident stores 1.00 GiB beside the heap"
                    + " and the JVM needs 819.20 MiB there; the memoryOverhead of the container is"
                    + " 1.95 GiB",
                "drop resident stores, including the one to replace, or"
                    + " spark.executor.memoryOverhead=2356m, or spark.ddstore.backing=file"));
  }

  @Test
  void computesTheOverheadLikeSpark() {
    SparkConf conf = new SparkConf(false).set("spark.executor.memory", "10g");

    assertThat(ClusterFacts.overheadBytes("yarn", conf)).isEqualTo(GIB);
    conf.set("spark.executor.memoryOverheadFactor", "0.2");
    assertThat(ClusterFacts.overheadBytes("yarn", conf)).isEqualTo(2 * GIB);
    conf.set("spark.executor.memory", "1g");
    assertThat(ClusterFacts.overheadBytes("yarn", conf)).isEqualTo(384L << 20);
    conf.set("spark.executor.memoryOverhead", "1g");
    assertThat(ClusterFacts.overheadBytes("yarn", conf)).isEqualTo(GIB);
    assertThat(ClusterFacts.overheadBytes("spark://a:7077", conf)).isNull();
  }

  @Test
  void requestedCoresAreKnownFromTheApplication() {
    SparkConf conf = new SparkConf(false);

    assertThat(ClusterFacts.coresAskedFor("local-cluster[3, 2,1024]", conf)).hasValue(6);
    assertThat(ClusterFacts.coresAskedFor("spark://a:7077", conf)).isEmpty();
    assertThat(ClusterFacts.coresAskedFor("yarn", conf)).as("Spark's default").hasValue(2);
    conf.set("spark.executor.instances", "4").set("spark.executor.cores", "5");
    assertThat(ClusterFacts.coresAskedFor("yarn", conf)).hasValue(20);
    conf.set("spark.cores.max", "8");
    assertThat(ClusterFacts.coresAskedFor("spark://a:7077", conf)).hasValue(8);
  }

  @Test
  void checksARankAgainstItsHostAndContainer() {
    MemoryCheck.Need need = new MemoryCheck.Need(2 * GIB, 4 * GIB, 8 * GIB, 0, 1);
    Settings direct = DEFAULTS.with(Setting.BACKING, Backing.DIRECT);

    assertThat(MemoryCheck.problems(host(GIB, 9 * GIB, null), need, DEFAULTS))
        .singleElement()
        .extracting(Problem::missing)
        .isEqualTo("this rank needs 2.00 GiB in /dev/shm, which has 1.00 GiB free of 9.00 GiB");
    assertThat(MemoryCheck.problems(host(4 * GIB, 4 * GIB, null), need, DEFAULTS))
        .singleElement()
        .extracting(Problem::missing)
        .isEqualTo(
            "the ranks of this host need 8.00 GiB in /dev/shm, which has 4.00 GiB free of 4.00"
                + " GiB");
    assertThat(MemoryCheck.problems(host(GIB, GIB, 4 * GIB), need, direct))
        .containsExactly(
            new Problem(
                "heap of 1.00 GiB and shards of 4.00 GiB exceed the container's limit of 4.00 GiB"
                    + " by 1.00 GiB",
                "raise spark.executor.memoryOverhead (or the container's limit) by 1024m, or lower"
                    + " spark.executor.memory, or spark.ddstore.backing=file with"
                    + " spark.ddstore.directory on a disk"));
    assertThat(MemoryCheck.problems(host(9 * GIB, 9 * GIB, 5 * GIB), need, DEFAULTS)).isEmpty();
    assertThatExceptionOfType(PreflightException.class)
        .isThrownBy(() -> MemoryCheck.check(host(GIB, 9 * GIB, null), need, DEFAULTS))
        .withMessageStartingWith("cannot load a shard of 2.00 GiB on box:\n- this rank needs")
        .satisfies(thrown -> assertThat(thrown.problems()).hasSize(1));
    assertThatCode(
            () ->
                MemoryCheck.check(
                    host(GIB, 9 * GIB, null), need, DEFAULTS.with(Setting.CHECK_MEMORY, false)))
        .doesNotThrowAnyException();
  }

  @Test
  void memoryOfResidentStoresCountsInTheContainer() {
    MemoryCheck.Need overwrite = new MemoryCheck.Need(8 * GIB, 8 * GIB, 8 * GIB, 8 * GIB, 1);
    MemoryCheck.Need load = new MemoryCheck.Need(8 * GIB, 8 * GIB, 8 * GIB, 0, 1);
    HostFacts host = host(24 * GIB, 32 * GIB, 16 * GIB);

    assertThat(MemoryCheck.problems(host, load, DEFAULTS)).isEmpty();
    assertThat(MemoryCheck.problems(host, overwrite, DEFAULTS))
        .containsExactly(
            new Problem(
                "heap of 1.00 GiB and shards of 8.00 GiB beside 8.00 GiB of resident stores exceed"
                    + " the container's limit of 16.00 GiB by 1.00 GiB",
                "drop resident stores, including the one to replace, or raise"
                    + " spark.executor.memoryOverhead (or the container's limit) by 1024m, or lower"
                    + " spark.executor.memory, or spark.ddstore.backing=file with"
                    + " spark.ddstore.directory on a disk"));
    assertThat(MemoryCheck.problems(host, overwrite, onDisk()))
        .as("pages of files do not count")
        .isEmpty();
  }

  /** As in a job of Slurm, whose limit the executors of a node share. */
  @Test
  void executorsThatShareALimitCountTogether() {
    MemoryCheck.Need need = new MemoryCheck.Need(2 * GIB, 8 * GIB, 8 * GIB, 0, 3);

    assertThat(MemoryCheck.problems(host(9 * GIB, 9 * GIB, 11 * GIB), need, DEFAULTS)).isEmpty();
    assertThat(MemoryCheck.problems(host(9 * GIB, 9 * GIB, 10 * GIB), need, DEFAULTS))
        .containsExactly(
            new Problem(
                "3 heaps of 1.00 GiB and shards of 8.00 GiB exceed the container's limit of 10.00"
                    + " GiB by 1.00 GiB",
                "raise the limit, which the executors share, by 1024m, or lower"
                    + " spark.executor.memory, or spark.ddstore.backing=file with"
                    + " spark.ddstore.directory on a disk"));
  }

  private Settings onDisk() {
    return DEFAULTS.with(Setting.BACKING, Backing.FILE).with(Setting.DIRECTORY, directory);
  }

  private static List<Problem> problems(
      ClusterFacts cluster, int ranks, long bytes, Settings settings) {
    return Preflight.problems(cluster, host(99 * GIB, 99 * GIB, null), ranks, bytes, 0, settings);
  }

  private static ClusterFacts cluster(int executors, int cores, String host) {
    return new ClusterFacts(
        "spark://a:7077",
        false,
        "here",
        executors(executors, cores, host),
        1,
        executors * cores,
        false,
        GIB,
        null);
  }

  private static List<ClusterFacts.Executor> executors(int count, int cores, String host) {
    return IntStream.range(0, count)
        .mapToObj(i -> new ClusterFacts.Executor(String.valueOf(i), host, cores))
        .toList();
  }

  private static HostFacts host(long freeBytes, long totalBytes, Long containerBytes) {
    return host("tmpfs", freeBytes, totalBytes, containerBytes);
  }

  private static HostFacts host(
      String fileSystem, long freeBytes, long totalBytes, Long containerBytes) {
    return new HostFacts(
        "box",
        1,
        null,
        "ann",
        "Linux",
        "amd64",
        "17",
        4,
        64 * GIB,
        GIB,
        "/dev/shm",
        fileSystem,
        totalBytes,
        freeBytes,
        null,
        null,
        containerBytes,
        null);
  }
}
