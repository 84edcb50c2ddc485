// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every class, method and field that the runtime jar or the command line names is there in every
 * release of Spark, and every method that a release wants implemented is: also where no other test
 * runs.
 */
@Tag("slow")
class RuntimeJarLinksIT {
  /** The bindings of Open MPI: where they are, the runtime jar has classes that name them. */
  private static final Path MPI_JAR =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build/mpi.jar");

  /**
   * Returns the classes that a release does not load: contexts of scans and servlets have two
   * forms.
   */
  private static List<String> unusedBy(SparkHome spark) {
    boolean isNext = spark.equals(PySpark.NEXT.home());
    return List.of(
        "org/ddstore/spark/ingest/SliceContext$"
            + (isNext ? "WholeCpusContext" : "InterruptForwarding"),
        "org/ddstore/spark/ui/"
            + (spark.name().startsWith("3.") ? "Jakarta" : "Javax")
            + "Servlet");
  }

  static List<SparkHome> supported() {
    return SparkHome.supported();
  }

  @ParameterizedTest
  @MethodSource("supported")
  void resolvesEveryReference(SparkHome spark) throws IOException {
    try (JarLinks links = JarLinks.open(SparkHome.RUNTIME_JAR, spark.jars(), MPI_JAR)) {
      assertThat(links.classes()).as("classes of the runtime jar").hasSizeGreaterThan(100);
      List<String> unused = unusedBy(spark);
      assertThat(links.broken())
          .allMatch(broken -> unused.stream().anyMatch(name -> broken.startsWith(name + " ")));
    }
  }

  @ParameterizedTest
  @MethodSource("supported")
  void everythingIsThereForTheCommandLine(SparkHome spark) throws IOException {
    try (JarLinks links =
        JarLinks.open(SparkHome.CLI_JAR, spark.jars(), SparkHome.RUNTIME_JAR, MPI_JAR)) {
      assertThat(links.classes()).as("classes of the command line").hasSizeGreaterThan(30);
      assertThat(links.broken()).isEmpty();
    }
  }
}
