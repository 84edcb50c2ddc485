// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.ShutdownHookManager;
import org.apache.spark.util.Utils$;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.types.DDStoreException;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * The Spark application of one command: the one that already runs in this JVM, or else the one that
 * {@code spark-submit} has prepared, or else a new one with executors in separate JVMs, bound to
 * loopback, whose files {@link #close()} deletes. Owns the session; an application that ran before
 * the command keeps running after it.
 */
public final class EmbeddedSpark implements AutoCloseable {
  public static final String LOOPBACK = "127.0.0.1";

  /** Setting of the address on which a new application, with its executors, listens. */
  public static final String HOST = "spark.driver.host";

  private static final String LOG_CONFIGURATION = "log4j2.configurationFile";

  private static final String AUTHENTICATE = "spark.authenticate";
  private static final String SECRET = "spark.authenticate.secret";
  private static final int SECRET_BYTES = 32;

  private enum Origin {
    RUNNING,
    SUBMITTED,
    OWN
  }

  private final Origin origin;
  private final SparkSession session;
  private final LocalClusterRemains remains;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Scratch directory, created on demand if this class did not start Spark. */
  private ScratchDirectory scratch;

  private BeforeStop beforeStop; // null if nothing is to be done

  /**
   * @param remains processes and files of a Spark application that this class started, else null
   */
  private EmbeddedSpark(Origin origin, SparkSession session, LocalClusterRemains remains) {
    this.origin = origin;
    this.session = session;
    this.remains = remains;
  }

  /**
   * Opens Spark as {@link #open(String, int, int, int, Map)} does, without further settings.
   *
   * @param memoryMb heap of one executor, in MiB
   */
  public static EmbeddedSpark open(String appName, int executors, int coresEach, int memoryMb) {
    return open(appName, executors, coresEach, memoryMb, Map.of());
  }

  /**
   * Starts Spark, or uses the existing application. Sizes are ignored if Spark already runs or
   * {@code spark-submit} has set a master.
   *
   * @param memoryMb heap of one executor, in MiB
   * @param settings Spark settings, applied last in all cases; to a running application only those
   *     that a session can change. A new application listens on {@link #HOST}, by default on {@link
   *     #LOOPBACK}
   * @throws org.ddstore.spark.types.PreflightException if a store cannot run on this Spark
   */
  public static EmbeddedSpark open(
      String appName, int executors, int coresEach, int memoryMb, Map<String, String> settings) {
    ClassicSpark.require();
    quietLogging();
    Option<SparkSession> running = SparkSession.getDefaultSession();
    if (running.isDefined()) {
      ClassicSpark.require(running.get());
      if (!running.get().sparkContext().isStopped()) {
        return new EmbeddedSpark(Origin.RUNNING, newSession(running.get(), settings), null);
      }
    }
    SparkSession.Builder builder = SparkSession.builder();
    if (isSubmitted()) {
      if (System.getProperty("spark.app.name") == null) {
        builder.appName(appName);
      }
      settings.forEach(builder::config);
      return new EmbeddedSpark(Origin.SUBMITTED, builder.getOrCreate(), null);
    }
    Path sparkHome = sparkHome();
    requireWritable(sparkHome);
    LocalClusterRemains remains = LocalClusterRemains.prepare(sparkHome);
    SparkSession session = null;
    try {
      String host = settings.getOrDefault(HOST, LOOPBACK);
      Utils$.MODULE$.setCustomHostname(host);
      builder
          .appName(appName)
          .master("local-cluster[%d,%d,%d]".formatted(executors, coresEach, memoryMb))
          .config("spark.executor.memory", memoryMb + "m");
      configure(builder, sparkHome, remains, host);
      authenticate(builder, settings);
      settings.forEach(builder::config);
      session = builder.getOrCreate();
      return new EmbeddedSpark(Origin.OWN, session, remains);
    } finally { // not catch: Spark throws checked exceptions that it does not declare
      if (session == null) {
        inOwnThread(remains::close);
      }
    }
  }

  /** Returns a new session; settings of the running application are left unchanged. */
  private static SparkSession newSession(SparkSession running, Map<String, String> settings) {
    SparkSession session = running.newSession();
    settings.forEach(
        (key, value) -> {
          if (session.conf().isModifiable(key)) {
            session.conf().set(key, value);
          }
        });
    return session;
  }

  /** Returns whether {@code spark-submit}, or the caller, has set a master. */
  public static boolean isSubmitted() {
    return System.getProperty("spark.master") != null;
  }

  private static void configure(
      SparkSession.Builder builder, Path sparkHome, LocalClusterRemains remains, String host) {
    builder
        .config(HOST, host)
        .config("spark.driver.bindAddress", host)
        .config("spark.local.dir", remains.scratch().resolve("local").toString())
        .config(
            "spark.sql.warehouse.dir", remains.scratch().resolve("warehouse").toUri().toString())
        .config("spark.deploy.appIdPattern", remains.applicationIdPattern())
        .config("spark.ui.enabled", "false")
        // The pages of the master and of the workers are open to all users of the host.
        .config("spark.ui.killEnabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.locality.wait", "0")
        .config("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
        .config("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "40")
        .config("spark.executor.extraClassPath", classPath(sparkHome))
        // An executor that is killed does not delete the native libraries that it has unpacked.
        .config(
            "spark.executor.defaultJavaOptions",
            "\"-Djava.io.tmpdir=%s\"".formatted(remains.scratch()));
  }

  /**
   * Closes the ports of the application to other users of the host, unless the user has set {@code
   * spark.authenticate=false}. Spark passes the secret to executors in their environment, which
   * only their user can read, and redacts it in logs, events and pages.
   */
  private static void authenticate(SparkSession.Builder builder, Map<String, String> settings) {
    SparkConf chosen = new SparkConf();
    settings.forEach(chosen::set);
    if (!chosen.getBoolean(AUTHENTICATE, true)) {
      return;
    }
    builder.config(AUTHENTICATE, "true");
    if (!chosen.contains(SECRET)) {
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      builder.config(SECRET, HexFormat.of().formatHex(secret));
    }
  }

  private static void requireWritable(Path sparkHome) {
    Path work = sparkHome.resolve("work");
    Path folder = Files.exists(work) ? work : sparkHome;
    if (!Files.isWritable(folder)) {
      throw new DDStoreException(
          "%s: this user may not write to it, and executors run there: build DDStore in a folder of this user"
              .formatted(folder));
    }
  }

  /**
   * Returns the class path of this JVM for executors. The jars of Spark are named as Spark names
   * them, by the first one and the folder, because a class archive fits only an equal path.
   */
  private static String classPath(Path sparkHome) {
    Path sparkJars = sparkHome.resolve("jars").toAbsolutePath().normalize();
    String allSparkJars = sparkJars + "/*";
    Set<String> entries = new LinkedHashSet<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry).toAbsolutePath().normalize();
      if (!path.startsWith(sparkJars)) {
        entries.add(path.toString());
      } else if (!entries.contains(allSparkJars)) {
        entries.addAll(List.of(path.toString(), allSparkJars));
      }
    }
    return String.join(File.pathSeparator, entries);
  }

  /** Quiets logging unless the user has a configuration; call before a Spark class logs. */
  public static void quietLogging() {
    if (!isSubmitted()
        && System.getProperty(LOG_CONFIGURATION) == null
        && System.getenv("SPARK_CONF_DIR") == null) {
      System.setProperty(LOG_CONFIGURATION, "classpath:org/ddstore/local/log4j2.properties");
    }
  }

  private static Path sparkHome() {
    String home = System.getenv("SPARK_HOME");
    if (home == null || !new File(home, "jars").isDirectory()) {
      throw new DDStoreException(
          "SPARK_HOME is %s and has no folder \"jars\": start with ./ddstore or spark-submit"
              .formatted(home == null ? "not set" : home));
    }
    return Path.of(home);
  }

  public SparkSession session() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return session;
  }

  /**
   * Creates a directory for data of the command, deleted by {@link #close()}.
   *
   * @throws IllegalStateException if executors can be on other hosts
   */
  public Path scratch(String name) throws IOException {
    if (origin == Origin.OWN) {
      return Files.createDirectories(remains.scratch().resolve(name));
    }
    if (!session.sparkContext().master().startsWith("local")) {
      throw new IllegalStateException("no directory shared with the executors of " + this);
    }
    if (scratch == null) {
      scratch = ScratchDirectory.create("ddstore-spark-");
    }
    return Files.createDirectories(scratch.path().resolve(name));
  }

  /**
   * Sets what is done once before Spark stops, at {@link #close()} or when a signal ends this JVM.
   *
   * @param action action that ends within seconds
   */
  public void beforeStop(Runnable action) {
    beforeStop = new BeforeStop(action);
  }

  /**
   * Stops Spark unless it ran before the command. If this class started it, waits for the executors
   * to end and deletes their files. An interrupt does not shorten the wait.
   *
   * @throws DDStoreException if an executor cannot be ended
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (beforeStop != null) {
        beforeStop.run();
      }
      if (origin == Origin.RUNNING) {
        closeScratch();
      } else {
        inOwnThread(this::stop);
      }
    }
  }

  private void stop() {
    RejectedTaskFilter errors = RejectedTaskFilter.install();
    try {
      stopSpark();
    } finally {
      errors.close();
    }
  }

  private void stopSpark() {
    try {
      session.stop();
    } finally {
      if (remains != null) {
        remains.close();
      }
      closeScratch();
    }
  }

  private void closeScratch() {
    if (scratch != null) {
      scratch.close();
    }
  }

  /** Runs work in its own thread, because an interrupt would cut short the waits of Spark. */
  private static void inOwnThread(Runnable work) {
    FutureTask<Void> task = new FutureTask<>(work, null);
    Thread thread = new Thread(task, "ddstore-stop-spark");
    thread.setDaemon(true);
    thread.start();
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new DDStoreException("cannot stop Spark: " + e.getCause(), e.getCause());
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public String toString() {
    return "EmbeddedSpark[%s, %s]"
        .formatted(
            origin.name().toLowerCase(Locale.ROOT),
            remains == null ? session.sparkContext().master() : remains.scratch());
  }

  /** An action that runs once, ahead of the hooks with which workers and the context stop. */
  private static final class BeforeStop {
    private final AtomicBoolean done = new AtomicBoolean();
    private final Runnable action;
    private final Object hook;

    BeforeStop(Runnable action) {
      this.action = action;
      this.hook =
          ShutdownHookManager.addShutdownHook(
              ShutdownHookManager.DEFAULT_SHUTDOWN_PRIORITY() + 1, this::runAtExit);
    }

    void run() {
      if (!ShutdownHookManager.inShutdown()) {
        ShutdownHookManager.removeShutdownHook(hook);
      }
      runAtExit();
    }

    private BoxedUnit runAtExit() {
      if (done.compareAndSet(false, true)) {
        action.run();
      }
      return BoxedUnit.UNIT;
    }
  }

  /**
   * Standard error without the stack traces that Scala prints while Spark stops, for callbacks of
   * futures that are rejected because their threads have ended.
   */
  static final class RejectedTaskFilter extends PrintStream {
    private final PrintStream target;

    /** True while the thread prints the rest of a stack trace. */
    private final ThreadLocal<Boolean> inTrace = ThreadLocal.withInitial(() -> false);

    private RejectedTaskFilter(PrintStream target) {
      super(target, true);
      this.target = target;
    }

    /** Replaces standard error until {@link #close()}. */
    static RejectedTaskFilter install() {
      RejectedTaskFilter filter = new RejectedTaskFilter(System.err);
      System.setErr(filter);
      return filter;
    }

    /** A throwable prints itself and each further line of its stack trace by this method. */
    @Override
    public void println(Object line) {
      boolean isTraceLine = line instanceof String text && text.startsWith("\t");
      inTrace.set(line instanceof RejectedExecutionException || (isTraceLine && inTrace.get()));
      if (!inTrace.get()) {
        super.println(line);
      }
    }

    /** Restores standard error. */
    @Override
    public void close() {
      flush();
      if (System.err == this) {
        System.setErr(target);
      }
    }
  }
}
