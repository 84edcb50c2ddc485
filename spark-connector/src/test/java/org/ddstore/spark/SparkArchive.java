// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.nio.file.Path;
import java.util.List;
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

  /** Returns {@link #javaOptions} if there is an archive, and creates none otherwise. */
  public static List<String> existingOptions() {
    return ExecutorArchive.existingOptions();
  }

  /** Returns the class path with which Spark starts executors, so that the archive fits. */
  public static String classPath(Path jars) {
    return ExecutorArchive.classPath(jars);
  }
}
