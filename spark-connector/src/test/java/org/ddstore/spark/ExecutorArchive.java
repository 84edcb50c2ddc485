// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import org.ddstore.contract.ChildJvm;

/**
 * A class data archive of the jars of Spark in {@code SPARK_HOME}, for JVMs that tests start: 2.0
 * instead of 3.3 s of processor time for an executor (local-cluster of two, one small query), 38
 * instead of 51 s for the ranks of some tests of {@code org.ddstore.spark.wire} (two cores,
 * 2026-11-23). The first test of the connector that needs it lets it be created below {@code
 * target/} in the background, once for each set of jars; without it these JVMs only start more
 * slowly.
 */
final class ExecutorArchive {
  private static final String ROOT = System.getProperty("ddstore.root");
  private static final Path JARS = Path.of(System.getenv("SPARK_HOME"), "jars");

  /** The beginning of the class path of JVMs that map the archive. */
  private static final String ARCHIVED = classPath(JARS);

  private static final int CREATION_SECONDS = 600; // on a busy machine
  private static final int KILLED = 128 + 9;
  private static final int KEY_DIGITS = 16;

  private static final AtomicBoolean IS_REQUESTED = new AtomicBoolean();

  private ExecutorArchive() {}

  /**
   * Returns the class path with which Spark starts executors. Java replaces the last entry by the
   * jars in the order of the folder.
   */
  static String classPath(Path jars) {
    String[] first = jars.toFile().list((folder, name) -> name.startsWith("slf4j-api-"));
    String all = jars + "/*";
    return first == null || first.length != 1
        ? all
        : jars.resolve(first[0]) + File.pathSeparator + all;
  }

  /** Returns the class path of this JVM, with the jars of Spark first. */
  static String classPath() {
    return Stream.concat(
            Stream.of(ARCHIVED),
            Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> Files.notExists(JARS.resolve(Path.of(entry).getFileName()))))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Returns the JVM options of an executor that starts with {@link #classPath}. */
  static List<String> javaOptions() {
    List<String> options = new ArrayList<>(ChildJvm.QUICK_START);
    options.addAll(mappingOptions());
    return options;
  }

  /**
   * Returns the options of a JVM that maps the archive; none if there is no archive yet, which this
   * JVM then creates in the background.
   */
  static List<String> mappingOptions() {
    List<String> options = existingOptions();
    if (options.isEmpty() && ROOT != null && IS_REQUESTED.compareAndSet(false, true)) {
      Thread creator = new Thread(() -> provide(archive(), false), "executor-archive");
      creator.setDaemon(true);
      creator.start();
    }
    return options;
  }

  /** Returns the options of a JVM that maps the archive; none if there is no archive yet. */
  static List<String> existingOptions() {
    // Without a root this is the driver of an application that a test has started.
    if (ROOT == null || Files.notExists(archive())) {
      return List.of();
    }
    return List.of(
        "-XX:SharedArchiveFile=" + archive(),
        "-Xshare:auto",
        // Warnings of an archive that does not fit would appear in the output of the JVM.
        "-Xlog:cds=off",
        "-Xlog:cds+dynamic=off");
  }

  /** Returns whether the archive exists, once this or another JVM has tried to create it. */
  static boolean isAvailable() {
    return provide(archive(), true);
  }

  private static Path archive() {
    return Place.ARCHIVE;
  }

  /** Found once a JVM needs it: not every JVM of tests has a Spark. */
  private static final class Place {
    static final Path ARCHIVE = Path.of(ROOT, "target", "executor-archive", key() + ".jsa");

    private Place() {}
  }

  /**
   * Creates the archive unless it exists, or an attempt to create it has failed before. Returns
   * whether it exists.
   *
   * @param isPatient whether to wait for another JVM that creates it
   */
  private static synchronized boolean provide(Path archive, boolean isPatient) {
    if (Files.exists(archive)) {
      return true;
    }
    Path attempted = Path.of(archive + ".attempted");
    try {
      Files.createDirectories(archive.getParent());
      try (FileChannel file = FileChannel.open(archive.resolveSibling("lock"), CREATE, WRITE);
          FileLock lock = isPatient ? file.lock() : file.tryLock()) {
        if (lock != null && Files.notExists(archive) && Files.notExists(attempted)) {
          deleteOld(archive.getParent());
          if (create(archive) == Outcome.FAILED) {
            Files.createFile(attempted);
          }
        }
      }
    } catch (IOException | OverlappingFileLockException e) {
      return false;
    }
    return Files.exists(archive);
  }

  /** Deletes archives of other jars, unless another module may use them in the same build. */
  private static void deleteOld(Path folder) throws IOException {
    Instant yesterday = Instant.now().minus(1, ChronoUnit.DAYS);
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(file -> !file.endsWith("lock")).toList()) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(yesterday)) {
          Files.delete(file);
        }
      }
    }
  }

  /** Runs {@link Training}, which leaves an archive of what the system class loader has loaded. */
  private static Outcome create(Path archive) throws IOException {
    Path unfinished = Path.of(archive + ".unfinished");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ChildJvm.QUICK_START);
    command.addAll(Arrays.asList(JavaModuleOptions.defaultModuleOptions().split(" ", -1)));
    command.addAll(
        List.of(
            "-Xmx1g",
            "-XX:ArchiveClassesAtExit=" + unfinished,
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            "-cp",
            ARCHIVED,
            // Loads the class of the program by a class loader of its own, so it is not archived.
            "org.apache.spark.deploy.SparkSubmit",
            "--master",
            "local[2]",
            "--conf",
            "spark.ui.enabled=false",
            "--class",
            Training.class.getName(),
            Training.class.getProtectionDomain().getCodeSource().getLocation().getPath()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(archive.resolveSibling("log").toFile())
            .start();
    // This JVM can end earlier.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    try {
      if (!process.waitFor(CREATION_SECONDS, TimeUnit.SECONDS)) {
        return Outcome.UNFINISHED;
      }
      if (process.exitValue() != 0) {
        return process.exitValue() == KILLED ? Outcome.UNFINISHED : Outcome.FAILED;
      }
      Files.move(unfinished, archive, StandardCopyOption.ATOMIC_MOVE);
      return Outcome.CREATED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Outcome.UNFINISHED;
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(unfinished);
    }
  }

  /** A name for the jars and the JVM. */
  private static String key() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(System.getProperty("java.home").getBytes(UTF_8));
      digest.update(System.getProperty("java.vm.version").getBytes(UTF_8));
      digest.update(ARCHIVED.getBytes(UTF_8));
      String[] jars = JARS.toFile().list(); // in the order of the folder
      if (jars == null) {
        throw new IOException("cannot list " + JARS);
      }
      for (String jar : jars) {
        Path path = JARS.resolve(jar);
        String state = jar + Files.size(path) + Files.getLastModifiedTime(path);
        digest.update(state.getBytes(UTF_8));
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, KEY_DIGITS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The result of an attempt to create the archive; another one is worth it unless it failed. */
  private enum Outcome {
    CREATED,
    FAILED,
    UNFINISHED
  }

  /** Queries on Parquet, and classes that only executors and ranks in JVMs of their own load. */
  public static final class Training {
    private static final List<String> IN_OTHER_JVMS =
        List.of(
            "org.apache.spark.network.client.TransportClient",
            "org.apache.spark.network.client.TransportClientFactory",
            "org.apache.spark.executor.CoarseGrainedExecutorBackend",
            "org.apache.spark.executor.CoarseGrainedExecutorBackend$",
            "org.apache.spark.scheduler.cluster.CoarseGrainedClusterMessages");

    private Training() {}

    public static void main(String[] arguments) throws ClassNotFoundException, IOException {
      try (SparkSession spark = SparkSession.builder().getOrCreate()) {
        Path folder = Files.createTempDirectory("archive-");
        String parquet = folder.resolve("rows.parquet").toString();
        spark
            .range(0, 1000, 1, 4)
            .selectExpr(
                "id", "id % 7 as k", "float(id) as x", "concat('t', id) as t", "array(id) as a")
            .write()
            .parquet(parquet);
        Dataset<Row> rows = spark.read().parquet(parquet);
        rows.createOrReplaceTempView("rows");
        spark.sql("SELECT k, count(t), sum(x) FROM rows WHERE id > 5 GROUP BY k").collectAsList();
        rows.orderBy("k", "_metadata.file_path", "_metadata.row_index").collectAsList();
        rows.join(spark.range(10).toDF("k"), "k").repartition(3).count();
        rows.javaRDD().map(row -> row.getLong(0)).persist(StorageLevel.DISK_ONLY()).count();
        try (Stream<Path> files = Files.walk(folder)) {
          files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
        for (String name : IN_OTHER_JVMS) {
          Class.forName(name, true, SparkSession.class.getClassLoader());
        }
      }
    }
  }
}
