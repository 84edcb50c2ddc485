// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.ClassArchive;

/**
 * The archive of executors, for ranks that tests of the connector start without Spark, and for the
 * Sparks of other modules.
 */
public final class SparkArchive implements ClassArchive {
  @Override
  public String classPath() {
    return ExecutorArchive.classPath();
  }

  @Override
  public List<String> javaOptions() {
    return ExecutorArchive.mappingOptions();
  }

  /** Returns whether the archive exists, once this or another JVM has tried to create it. */
  public static boolean isAvailable() {
    return ExecutorArchive.isAvailable();
  }

  /**
   * Returns the options of a JVM that lives for seconds, and maps the archive if there is one; with
   * another class path it starts without it.
   */
  public static List<String> quickStart() {
    List<String> options = new ArrayList<>(ChildJvm.QUICK_START);
    options.addAll(ExecutorArchive.existingOptions());
    return options;
  }

  /** Returns the settings of executors that live for seconds, with the class path of this JVM. */
  public static Map<String, String> executorSettings() {
    return Map.of(
        "spark.executor.extraJavaOptions",
        String.join(" ", quickStart()),
        "spark.executor.extraClassPath",
        ExecutorArchive.classPath());
  }

  /** Returns the class path with which Spark starts executors, so that the archive fits. */
  public static String classPath(Path jars) {
    return ExecutorArchive.classPath(jars);
  }
}
