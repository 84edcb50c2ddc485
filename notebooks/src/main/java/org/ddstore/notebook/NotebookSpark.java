// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.File;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.spark.source.DDStoreCatalog;
import org.ddstore.spark.types.OptionKeys;

/**
 * The Spark application of a notebook, whose executors load the classes of cells from the driver.
 * Spark itself has the means, for its own shell: a folder that the driver serves, and a class
 * loader of executors that reads from there. The caller closes it.
 */
final class NotebookSpark implements AutoCloseable {
  /** The folder that the driver serves, see {@code SparkContext} of Spark 3.5 to 4.2. */
  private static final String CLASS_FOLDER = "spark.repl.class.outputDir";

  /** Set by {@code SparkContext}: the address from which executors load classes. */
  private static final String CLASS_ADDRESS = "spark.repl.class.uri";

  private static final String MASTER = "spark.master";
  private static final String JARS = "spark.jars";

  /**
   * The time for which Spark keeps a slot free for a task that prefers it; ranks handle other
   * places.
   */
  private static final String LOCALITY_WAIT = "spark.locality.wait";

  /** The catalog of stores, for cells that begin with SQL. */
  private static final String CATALOG = DDStoreCatalog.class.getName();

  private final EmbeddedSpark spark;
  private final CellJobs jobs;
  private final CellClasses classes;

  private NotebookSpark(EmbeddedSpark spark, CellJobs jobs, CellClasses classes) {
    this.spark = spark;
    this.jobs = jobs;
    this.classes = classes;
  }

  /**
   * Starts Spark in the calling thread, whose context class loader must be that of the cells: the
   * threads of Spark inherit it. Uses the application of this JVM if there is one.
   */
  static NotebookSpark start(NotebookOptions options, CellClasses classes) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(CLASS_FOLDER, classes.folder().toString());
    settings.put(OptionKeys.SQL_CATALOG, CATALOG);
    boolean isRemote = options.master().filter(url -> !url.startsWith("local")).isPresent();
    if (isRemote) {
      System.setProperty(MASTER, options.master().orElseThrow());
      settings.put(JARS, jars());
      settings.put(LOCALITY_WAIT, "0");
    } else {
      options.master().ifPresent(url -> settings.put(MASTER, url));
    }
    settings.putAll(options.settings());
    EmbeddedSpark spark =
        EmbeddedSpark.open(
            "ddstore notebook", options.executors(), options.cores(), options.memoryMb(), settings);
    CellJobs jobs = new CellJobs(spark.session().sparkContext());
    jobs.register();
    return new NotebookSpark(spark, jobs, classes);
  }

  /**
   * Returns the jars of this JVM that Spark's own folder lacks, for executors of other machines.
   */
  private static String jars() {
    Path sparkHome = Path.of(System.getenv().getOrDefault("SPARK_HOME", "/")).toAbsolutePath();
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(Path::of)
        .map(Path::toAbsolutePath)
        .filter(path -> path.toString().endsWith(".jar"))
        .filter(path -> !path.startsWith(sparkHome.resolve("jars")))
        .map(path -> path.toUri().toString())
        .collect(Collectors.joining(","));
  }

  SparkSession session() {
    return spark.session();
  }

  CellJobs jobs() {
    return jobs;
  }

  /** Returns why executors cannot load classes of cells, and the remedy; empty if they can. */
  Optional<String> servingProblem() {
    SparkConf settings = session().sparkContext().getConf();
    String folder = settings.get(CLASS_FOLDER, "");
    if (!folder.equals(classes.folder().toString())) {
      return Optional.of(
          "executors cannot load classes of cells: %s is \"%s\" instead of \"%s\": start the notebook in a JVM without a Spark application, and without this setting"
              .formatted(CLASS_FOLDER, folder, classes.folder()));
    }
    if (settings.get(CLASS_ADDRESS, "").isEmpty()) {
      return Optional.of(
          "executors cannot load classes of cells: Spark %s does not serve %s: use Spark 3.5 to 4.2, or put the classes into a jar"
              .formatted(session().version(), CLASS_FOLDER));
    }
    return Optional.empty();
  }

  /** Stops Spark and waits for the executors to end. Idempotent. */
  @Override
  public void close() {
    spark.close();
  }
}
