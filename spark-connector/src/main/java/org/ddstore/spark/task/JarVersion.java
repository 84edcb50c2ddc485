// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLConnection;
import java.security.CodeSource;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import org.apache.spark.SparkEnv;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The version of the connector's jar, which must be the same in all JVMs of an application. */
public final class JarVersion {
  /** Text with the version; each jar of the project has one. */
  static final String RESOURCE = "META-INF/ddstore/version";

  private static final String REMEDY =
      "use one version: replace the other jar in --jars, --packages, spark.jars,"
          + " spark.driver.extraClassPath, spark.executor.extraClassPath, $SPARK_HOME/jars and the image";

  /** What was found, by class loader: a jar may be replaced while it is in use. */
  private static final Map<ClassLoader, Optional<Problem>> FOUND = new WeakHashMap<>();

  private static volatile String own; // null before the first successful read

  private static final Logger LOG = LoggerFactory.getLogger(JarVersion.class);

  private JarVersion() {}

  /** Returns the version of the jar of this class. */
  static String own() {
    if (own == null) { // not in an initializer, whose failure would stay
      own = read(JarVersion.class.getResource("/" + RESOURCE));
    }
    return own;
  }

  /**
   * Checks the version of the JVM that sent a task.
   *
   * @throws PreflightException if this JVM has another; it names both
   */
  static void require(String sender) {
    if (!sender.equals(own())) {
      SparkEnv env = SparkEnv.get();
      throw new PreflightException(
          "executor %s cannot run tasks of this driver:"
              .formatted(env == null ? "of this process" : env.executorId()),
          List.of(
              new Problem(
                  "the driver has DDStore %s, the executor has DDStore %s (%s)"
                      .formatted(sender, own(), place()),
                  REMEDY)));
    }
  }

  private static String place() {
    CodeSource source = JarVersion.class.getProtectionDomain().getCodeSource();
    return source == null ? "unknown jar" : source.getLocation().getPath();
  }

  /**
   * Returns the problem of a class path with jars of different versions.
   *
   * @param classes class loader of the thread that uses the connector
   */
  public static Optional<Problem> classPathProblem(ClassLoader classes) {
    synchronized (FOUND) {
      try {
        return FOUND.computeIfAbsent(classes, JarVersion::find);
      } catch (UncheckedIOException e) { // such as a jar that was replaced
        LOG.debug("versions of the class path are not compared", e);
        return Optional.empty();
      }
    }
  }

  private static Optional<Problem> find(ClassLoader classes) {
    TreeMap<String, String> places = new TreeMap<>(Map.of(own(), place()));
    try {
      for (URL url : Collections.list(classes.getResources(RESOURCE))) {
        places.putIfAbsent(read(url), url.toString().replace("!/" + RESOURCE, ""));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return places.size() < 2
        ? Optional.empty()
        : Optional.of(
            new Problem(
                "the class path has different versions of DDStore: "
                    + places.entrySet().stream()
                        .map(found -> "%s (%s)".formatted(found.getKey(), found.getValue()))
                        .collect(Collectors.joining(", ")),
                REMEDY));
  }

  private static String read(URL url) {
    if (url == null) {
      return "of an unknown version"; // repackaged without the text
    }
    try {
      URLConnection connection = url.openConnection();
      connection.setUseCaches(false); // else the jar stays open
      try (InputStream text = connection.getInputStream()) {
        return new String(text.readAllBytes(), UTF_8).strip();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
