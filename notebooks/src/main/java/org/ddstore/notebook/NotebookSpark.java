// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.File;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.EmbeddedSpark;

/**
 * The Spark application of a notebook, whose executors load the classes of cells from the driver.
 * Spark itself has the means, for its own shell: a folder that the driver serves, and a class
 * loader of executors that reads from there. The caller closes it.
 *
 * @param startSeconds duration of the start
 */
record NotebookSpark(EmbeddedSpark spark, SparkContext context, long startSeconds)
    implements AutoCloseable {
  /** The folder that the driver serves, see {@code SparkContext} of Spark 3.5 to 4.3. */
  private static final String CLASS_FOLDER = "spark.repl.class.outputDir";

  private static final String MASTER = "spark.master";

  /** Makes Spark interrupt the tasks of a cancelled job, which would occupy their slots. */
  private static final String INTERRUPT_TASKS = "spark.job.interruptOnCancel";

  /**
   * Starts Spark in the calling thread, whose context class loader must be that of the cells: the
   * threads of Spark inherit it. Uses the application of this JVM if there is one.
   *
   * @param classFolder folder of the classes of cells
   */
  static NotebookSpark start(NotebookOptions options, Path classFolder) {
    long startNs = System.nanoTime();
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(CLASS_FOLDER, classFolder.toString());
    if (!options.isLocal()) {
      System.setProperty(MASTER, options.master().orElseThrow());
      settings.put("spark.jars", jars());
      settings.put("spark.locality.wait", "0"); // ranks handle other places
    } else {
      options.master().ifPresent(url -> settings.put(MASTER, url));
      settings.put("spark.ui.enabled", "true"); // bound to SPARK_LOCAL_IP, see NotebookCommand
      settings.put("spark.ui.port", "0");
    }
    settings.putAll(options.settings());
    EmbeddedSpark spark =
        EmbeddedSpark.open(
            "ddstore notebook", options.executors(), options.cores(), options.memoryMb(), settings);
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNs);
    return new NotebookSpark(spark, spark.session().sparkContext(), seconds);
  }

  /**
   * Returns the jars of this JVM that Spark's own folder lacks, for executors of other machines.
   */
  private static String jars() {
    Path sparkHome = Path.of(System.getenv().getOrDefault("SPARK_HOME", "/")).toAbsolutePath();
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(path -> Path.of(path).toAbsolutePath())
        .filter(path -> path.toString().endsWith(".jar"))
        .filter(path -> !path.startsWith(sparkHome.resolve("jars")))
        .map(path -> path.toUri().toString())
        .collect(Collectors.joining(","));
  }

  /** Returns the line that tells the user that Spark has started, and the address of its UI. */
  String startLine() {
    String ui = context.uiWebUrl().map(url -> "; Spark UI: " + url).getOrElse(() -> "");
    return "Spark started in %d s%s".formatted(startSeconds, ui);
  }

  /** Begins a cell in the calling thread, and returns the session. */
  SparkSession beginCell() {
    context.setLocalProperty(INTERRUPT_TASKS, "true");
    return spark.session();
  }

  /** Asks Spark to end all jobs. Does not block. */
  void cancelJobs() {
    context.cancelAllJobs();
  }

  /** Stops Spark and waits for the executors to end. Idempotent. */
  @Override
  public void close() {
    spark.close();
  }
}
