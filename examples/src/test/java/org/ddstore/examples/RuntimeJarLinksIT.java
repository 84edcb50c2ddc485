// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

  /** The classes of which a release loads one: the context of a scan has two forms. */
  private static final Map<Boolean, String> UNUSED_BY_NEXT =
      Map.of(
          false, "org/ddstore/spark/ingest/SliceContext$InterruptForwarding",
          true, "org/ddstore/spark/ingest/SliceContext$WholeCpusContext");

  static List<SparkHome> supported() {
    return SparkHome.supported();
  }

  @ParameterizedTest
  @MethodSource("supported")
  void resolvesEveryReference(SparkHome spark) throws IOException {
    try (JarLinks links = JarLinks.open(SparkHome.RUNTIME_JAR, spark.jars(), MPI_JAR)) {
      assertThat(links.classes()).as("classes of the runtime jar").hasSizeGreaterThan(100);
      String unused = UNUSED_BY_NEXT.get(spark.equals(PySpark.NEXT.home()));
      assertThat(links.broken()).allMatch(broken -> broken.startsWith(unused + " needs"));
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
