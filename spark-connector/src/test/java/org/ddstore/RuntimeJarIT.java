// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The one jar that executors and drivers need beside Spark: the classes of core, native and the
 * connector, complete, and nothing else. Prints its size and its classes by package.
 */
class RuntimeJarIT {
  private static final Path JAR = Path.of(System.getProperty("ddstore.runtime.jar"));

  /** Packages of the three modules; the connector's begin with the last one. */
  private static final List<String> PACKAGES =
      List.of(
          "org/ddstore",
          "org/ddstore/checkpoint",
          "org/ddstore/collective",
          "org/ddstore/device",
          "org/ddstore/fabric",
          "org/ddstore/layout",
          "org/ddstore/loader",
          "org/ddstore/memory",
          "org/ddstore/mpi",
          "org/ddstore/mpirun",
          "org/ddstore/nativeio",
          "org/ddstore/read",
          "org/ddstore/sampling",
          "org/ddstore/transport",
          "org/ddstore/types");

  private static final Pattern DEPENDENCY =
      Pattern.compile("<dependency>\\s*<groupId>[^<]*</groupId>\\s*<artifactId>([^<]*)<");

  private static final String CONNECTOR = "org/ddstore/spark";

  @BeforeAll
  static void print() throws IOException {
    System.out.println(content());
  }

  @Test
  void holdsTheClassesOfThreeModulesAlone() throws IOException {
    Map<String, Integer> classes = classesByPackage();

    assertThat(classes.keySet())
        .as(content())
        .containsAll(PACKAGES)
        .contains(CONNECTOR, CONNECTOR + "/source")
        .allMatch(
            name ->
                PACKAGES.contains(name)
                    || name.equals(CONNECTOR)
                    || name.startsWith(CONNECTOR + "/"));
  }

  @Test
  void holdsBesideClassesOnlyWhatTheyNeed() throws IOException {
    assertThat(entries().filter(name -> !name.endsWith(".class")))
        .as(content())
        .allMatch(
            name ->
                name.matches(
                    "META-INF/(MANIFEST\\.MF|LICENSE|NOTICE|services/[a-zA-Z.$]+"
                        + "|ddstore/version|native/linux-[a-z0-9_]+/libddstore\\.(so|missing)"
                        + "|maven/org\\.ddstore/.*)"
                        + "|org/ddstore/spark/ui/[a-z]+\\.(css|js|json)"))
        .contains("META-INF/LICENSE", "META-INF/NOTICE");
  }

  @Test
  void holdsTheNativeLibraryOrAMissingMarker() throws IOException {
    assertThat(entries().filter(name -> name.startsWith("META-INF/native/")))
        .singleElement()
        .asString()
        .matches("META-INF/native/linux-[a-z0-9_]+/libddstore\\.(so|missing)");
  }

  /** The services of native and the connector have files of the same name. */
  @Test
  void listsAllTransports() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile());
        InputStream services =
            jar.getInputStream(
                jar.getEntry("META-INF/services/org.ddstore.transport.TransportProvider"))) {
      assertThat(new String(services.readAllBytes(), US_ASCII))
          .contains(".TcpTransportBackend", ".FabricTransportBackend", ".MpiTransportBackend");
    }
  }

  /** The published pom: the contents of the jar and the libraries of tests are not dependencies. */
  @Test
  void dependsOnSparkAlone() throws IOException {
    Path pom = JAR.resolveSibling("../dependency-reduced-pom.xml");
    assertThat(DEPENDENCY.matcher(Files.readString(pom)).results().map(found -> found.group(1)))
        .as("all of scope provided")
        .containsExactlyInAnyOrder("spark-core_2.13", "spark-sql_2.13", "javax.servlet-api");
  }

  private static String content() throws IOException {
    StringBuilder text = new StringBuilder();
    text.append("%s: %d bytes%n".formatted(JAR.getFileName(), JAR.toFile().length()));
    classesByPackage().forEach((name, count) -> text.append("%5d  %s%n".formatted(count, name)));
    return text.toString();
  }

  private static Map<String, Integer> classesByPackage() throws IOException {
    Map<String, Integer> classes = new TreeMap<>();
    entries()
        .filter(name -> name.endsWith(".class"))
        .forEach(name -> classes.merge(name.substring(0, name.lastIndexOf('/')), 1, Integer::sum));
    return classes;
  }

  private static Stream<String> entries() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return jar.stream()
          .filter(entry -> !entry.isDirectory())
          .map(ZipEntry::getName)
          .toList()
          .stream();
    }
  }
}
