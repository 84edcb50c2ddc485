// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.job.BarrierStage;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ResidentShard;

/**
 * A Spark whose executors are JVMs of their own, children of this one, and what tests want to know
 * of them. Ends any other Spark of this JVM first, because there can be one only.
 *
 * <p>A cluster of {@link #start} ends when it is closed. One of {@link #shared} goes on, for the
 * next class that asks for the same, until this JVM starts another Spark or ends; if it has lost an
 * executor, or holds anything of ours, it ends when it is closed.
 */
public final class TestCluster implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int SHARED_MEMORY_MB = 1024;
  private static final String JAVA_OPTIONS = "spark.executor.extraJavaOptions";
  private static final String EXECUTOR_CLASS = "CoarseGrainedExecutorBackend";

  /** The last cluster of {@link #shared}, in use or not; null if it has ended. */
  private static TestCluster kept;

  private final SparkSession application;
  private final int executors;
  private final int coresEach;
  private final int slots;
  private final Path workDirectory;
  private final Set<Long> executorsSeen = new HashSet<>();
  private SparkSession session;

  /** The executors that a shared cluster has begun with. */
  private Set<Long> firstExecutors = Set.of();

  private TestCluster(SparkSession application, int executors, int coresEach) {
    this.application = application;
    this.session = application;
    this.executors = executors;
    this.coresEach = coresEach;
    this.slots = executors * coresEach;
    this.workDirectory =
        Path.of(System.getenv("SPARK_HOME"), "work", application.sparkContext().applicationId());
  }

  /**
   * A cluster of 1024 MB an executor that classes share, in a session of the caller's own. All its
   * executors are there, and hold nothing of ours; its driver has {@link DriverPages}, and all of
   * it {@link StrictKryo}.
   *
   * @param settings of the session: such as Spark reads there, not those of an application
   */
  public static synchronized TestCluster shared(
      int executors, int coresEach, Map<String, String> settings) {
    if (kept == null
        || kept.executors != executors
        || kept.coresEach != coresEach
        || !kept.isUsable()) {
      stopOthers();
      Map<String, String> all = new HashMap<>(DriverPages.SETTINGS);
      all.putAll(StrictKryo.SETTINGS);
      kept = start(executors, coresEach, SHARED_MEMORY_MB, all);
      kept.inEverySlot(rows -> 0);
      kept.firstExecutors = kept.executors();
      Runtime.getRuntime().addShutdownHook(new Thread(TestCluster::stopKept));
    }
    kept.open(settings);
    return kept;
  }

  private void open(Map<String, String> settings) {
    session = application.newSession();
    settings.forEach(session.conf()::set);
    SparkSession.setActiveSession(session);
    SparkSession.setDefaultSession(session);
    application.sparkContext().setLogLevel("OFF");
  }

  /** Resets the application after a class. Returns false if another class cannot use it. */
  private boolean isUsable() {
    try {
      application.sparkContext().cancelAllJobs();
      DDStores.list(application).forEach(ResidentStore::drop);
      assertWhole();
      return true;
    } catch (AssertionError | RuntimeException e) {
      return false;
    }
  }

  private void assertWhole() {
    assertThat(application.sparkContext().isStopped()).as("has ended").isFalse();
    assertThat(executors()).as("executors").isEqualTo(firstExecutors);
    assertNothingLeft();
    await("nothing of ours is left in this JVM")
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> Leftovers.ofThisProcess().assertNone());
  }

  /** Ends the cluster that classes share, if there is one, so that another Spark can be started. */
  public static synchronized void stopKept() {
    TestCluster last = kept;
    kept = null;
    if (last != null) {
      last.end();
    }
  }

  public static TestCluster start(int executors, int coresEach, int memoryMb) {
    return start(executors, coresEach, memoryMb, Map.of());
  }

  public static TestCluster start(
      int executors, int coresEach, int memoryMb, Map<String, String> settings) {
    stopOthers();
    SparkSession.Builder builder =
        SparkSession.builder()
            .master("local-cluster[%d,%d,%d]".formatted(executors, coresEach, memoryMb))
            .appName("fault tests")
            .config("spark.executor.memory", memoryMb + "m")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.locality.wait", "0")
            .config("spark.executor.extraClassPath", ExecutorArchive.classPath())
            .config("spark.ddstore.slotsTimeout", "2min") // the machine may be busy
            .config("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
            .config("spark.barrier.sync.timeout", "300s") // else a hung barrier waits a year
            .config(
                "spark.deploy.appIdPattern", "test-" + ProcessHandle.current().pid() + "-%s-%04d")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse");
    settings.forEach(builder::config);
    builder.config(
        JAVA_OPTIONS,
        String.join(" ", ExecutorArchive.javaOptions())
            + " "
            + settings.getOrDefault(JAVA_OPTIONS, ""));
    TestCluster cluster = new TestCluster(builder.getOrCreate(), executors, coresEach);
    cluster.session.sparkContext().setLogLevel("OFF");
    return cluster;
  }

  /** Stops the sessions of other test classes, which Spark would return instead of a new one. */
  public static synchronized void stopOthers() {
    stopKept();
    if (!SparkSession.getDefaultSession().isEmpty()) {
      SparkSession.getDefaultSession().get().stop();
    }
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
  }

  public SparkSession session() {
    return session;
  }

  /** The live executor JVMs, by process id. */
  public Set<Long> executors() {
    Set<Long> pids = new HashSet<>();
    ProcessHandle.current()
        .descendants()
        .filter(process -> commandLine(process.pid()).contains(EXECUTOR_CLASS))
        .forEach(process -> pids.add(process.pid()));
    executorsSeen.addAll(pids);
    return pids;
  }

  private static String commandLine(long pid) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"));
    } catch (IOException e) {
      return ""; // has ended
    }
  }

  /** Runs a function once in every slot, at the same time, and without a store. */
  public <T> List<T> inEverySlot(BarrierStage.TaskBody<T> body) {
    Preflight.check(
        JavaSparkContext.fromSparkContext(session.sparkContext()), slots, 0, settings());
    RDD<InternalRow> rows =
        JavaSparkContext.fromSparkContext(session.sparkContext())
            .parallelize(new ArrayList<InternalRow>(), slots)
            .rdd();
    return BarrierStage.run(rows, body);
  }

  /** Returns the process ids of the executors, by name. */
  public Map<String, Long> pids() {
    Map<String, Long> pids = new HashMap<>();
    inEverySlot(none -> new String[] {StartedRank.executorId(), "" + ProcessHandle.current().pid()})
        .forEach(slot -> pids.put(slot[0], Long.valueOf(slot[1])));
    return pids;
  }

  /** Kills the process of an executor. */
  public void killExecutor(String executorId) {
    ProcessHandle.of(pids().get(executorId)).orElseThrow().destroyForcibly();
  }

  /**
   * Occupies slots of the executor that holds a shard, until there is a note {@code free}. Returns
   * when they are occupied.
   *
   * @return what each task says when it has ended: whether it was in that executor
   */
  CompletableFuture<List<Boolean>> occupy(ResidentShard home, int slotsOfIt, Evidence evidence) {
    List<String> there = Collections.nCopies(slotsOfIt, home.preferredLocation());
    CompletableFuture<List<Boolean>> job =
        CompletableFuture.supplyAsync(
            () ->
                BarrierStage.run(
                    PlacedRdd.empty(session.sparkContext(), there),
                    rows -> {
                      evidence.note("occupied", "");
                      evidence.awaitNote("free");
                      return StartedRank.executorId().equals(home.executorId());
                    }));
    evidence.awaitNote("occupied");
    return job;
  }

  private Settings settings() {
    return Settings.of(session);
  }

  /**
   * Fails unless, within two minutes, no living executor holds anything of ours and no process that
   * was an executor of this cluster, or this JVM, has left files in shared memory.
   */
  public void assertNothingLeft() {
    awaitNone(left -> left);
  }

  /**
   * The same but for threads of the network, which Netty lets go on for two seconds: for each test,
   * where the class looks for these at its end.
   */
  public void assertNothingHeld() {
    awaitNone(Leftovers::withoutNetwork);
  }

  private void awaitNone(UnaryOperator<Leftovers> what) {
    executors();
    await("nothing of ours is left in executors and shared memory")
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              for (Leftovers left : inEverySlot(rows -> Leftovers.ofThisProcess())) {
                what.apply(left).assertNone();
              }
              Leftovers.assertNoSharedMemoryOf(processes());
            });
  }

  private Set<Long> processes() {
    executors();
    Set<Long> all = new HashSet<>(executorsSeen);
    all.add(ProcessHandle.current().pid());
    return all;
  }

  /** Stops Spark and waits until its executors have ended, unless other classes may share them. */
  @Override
  public void close() {
    synchronized (TestCluster.class) {
      SparkSession.clearActiveSession();
      SparkSession.clearDefaultSession();
      session = application;
      if (kept != this) {
        end();
      } else if (!isUsable()) {
        stopKept();
      }
    }
  }

  private void end() {
    Set<Long> live = executors();
    application.stop();
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
    await("executors end")
        .atMost(PATIENCE)
        .until(() -> live.stream().noneMatch(TestCluster::isRunning));
    try {
      TestRoots.delete(workDirectory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
    Leftovers.assertNoSharedMemoryOf(processes());
  }

  private static boolean isRunning(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }
}
