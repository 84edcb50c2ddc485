// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.lang.module.ModuleDescriptor.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.package$;
import org.ddstore.spark.task.JarVersion;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;

/**
 * A check of the Spark installation: a store needs a driver in this process, of a Spark release and
 * Scala version that this jar supports. It must run before other Spark classes are used, because an
 * incompatible Spark fails with a missing method or class, which tells a user nothing.
 */
public final class ClassicSpark {
  private static final String SCALA = "2.13.";
  private static final Version OLDEST = Version.parse("3.5");

  /** The system property in which {@code spark-submit --remote} stores the server. */
  private static final String REMOTE = "spark.remote";

  private static final String INSIDE_THE_DRIVER =
      "run inside the driver: spark-submit without --remote, spark.api.mode=classic, and no"
          + " spark.remote or SPARK_REMOTE";
  private static final String DISTRIBUTION =
      "use Spark 3.5 to 4.3 for Scala 2.13; for Spark 3.5, the download with scala2.13 in its name";

  private ClassicSpark() {}

  /**
   * Checks, before a session is created, the class path and that this program is not configured as
   * a client of Spark Connect.
   *
   * @throws PreflightException if a check fails; it names the actual and the required state
   */
  public static void require() {
    List<Problem> problems = new ArrayList<>(classPathProblems());
    String server = System.getProperty(REMOTE);
    if (server != null) {
      problems.add(
          new Problem(
              "system property %s is %s, a server of Spark Connect, whose client has no SparkContext"
                  .formatted(REMOTE, server),
              INSIDE_THE_DRIVER));
    }
    refuse("no store can run on this Spark:", problems);
  }

  /**
   * Checks the class path and that an object belongs to a classic session.
   *
   * @throws PreflightException if a check fails; it names the actual and the required state
   */
  public static void require(Object sessionOrDataset) {
    String name = sessionOrDataset.getClass().getName();
    boolean isConnect = name.contains(".connect.");
    refuse(
        "cannot make a store from this object:",
        isConnect
            ? List.of(
                new Problem(
                    name + " belongs to Spark Connect, whose client has no SparkContext",
                    INSIDE_THE_DRIVER))
            : classPathProblems());
  }

  private static void refuse(String what, List<Problem> problems) {
    if (!problems.isEmpty()) {
      throw new PreflightException(what, problems);
    }
  }

  private static List<Problem> classPathProblems() {
    if (!hasDriver()) {
      return List.of(
          new Problem(
              "no spark-core on the class path, as in a client of Spark Connect",
              INSIDE_THE_DRIVER));
    }
    return Stream.concat(
            releaseProblem(
                package$.MODULE$.SPARK_VERSION(),
                scala.util.Properties$.MODULE$.versionNumberString())
                .stream(),
            JarVersion.classPathProblem(classes()).stream())
        .toList();
  }

  /** Returns the loader of the calling thread, which knows the jars of spark-submit and shells. */
  private static ClassLoader classes() {
    ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
    return ofThread == null ? ClassicSpark.class.getClassLoader() : ofThread;
  }

  /** Looks for SparkEnv, because the SparkContext of a Spark Connect client is an empty class. */
  private static boolean hasDriver() {
    try {
      Class.forName("org.apache.spark.SparkEnv", false, ClassicSpark.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Checks a release. Releases newer than the newest tested one pass, because they may work. */
  static Optional<Problem> releaseProblem(String spark, String scala) {
    boolean isNewEnough = Version.parse(spark).compareTo(OLDEST) >= 0;
    if (isNewEnough && scala.startsWith(SCALA)) {
      return Optional.empty();
    }
    return Optional.of(
        new Problem("this is Spark %s on Scala %s".formatted(spark, scala), DISTRIBUTION));
  }
}
