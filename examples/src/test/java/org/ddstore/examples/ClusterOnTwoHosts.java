// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.hosts.TwoHosts;

/**
 * A standalone cluster of two hosts, each with a network and a /dev/shm of its own, for programs
 * that run one after the other. The driver is on the first host; executors have a core each. Closed
 * by its opener.
 */
final class ClusterOnTwoHosts implements AutoCloseable {
  /** Up to eight JVMs share the processors of one machine. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** Workers kill the executors of a program that has ended. */
  private static final Duration EXECUTORS_LIMIT = Duration.ofMinutes(10);

  private final TwoHosts hosts;
  private final StandaloneCluster cluster;

  private ClusterOnTwoHosts(TwoHosts hosts, StandaloneCluster cluster) {
    this.hosts = hosts;
    this.cluster = cluster;
  }

  /**
   * Starts it.
   *
   * @param work where the daemons and the executors keep their files
   * @param executors of each host
   */
  static ClusterOnTwoHosts start(Path work, int executors) throws IOException {
    TwoHosts hosts = TwoHosts.open();
    try {
      return new ClusterOnTwoHosts(
          hosts, StandaloneCluster.start(SparkHome.current(), work, hosts, executors));
    } catch (IOException | RuntimeException | Error e) {
      hosts.close();
      throw e;
    }
  }

  TwoHosts hosts() {
    return hosts;
  }

  StandaloneCluster cluster() {
    return cluster;
  }

  /**
   * Runs a program to its end, which must be a success and leave no file on the hosts.
   *
   * @param work where the program keeps its files
   * @param classes of the driver beside Spark's
   * @param settings of Spark beside those of the network
   * @param application the other arguments of spark-submit
   */
  Program submit(
      Path work, List<Path> classes, Map<String, String> settings, List<String> application)
      throws IOException, InterruptedException {
    SparkHome spark = SparkHome.current();
    String address = hosts.first().address();
    List<String> arguments = new ArrayList<>();
    arguments.add("org.apache.spark.deploy.SparkSubmit");
    arguments.addAll(List.of("--master", cluster.master()));
    set(arguments, "spark.driver.host", address);
    set(arguments, "spark.driver.bindAddress", address);
    set(arguments, "spark.ui.enabled", "false");
    set(arguments, "spark.executor.cores", "1");
    settings.forEach((key, value) -> set(arguments, key, value));
    arguments.addAll(application);
    Path folder = Files.createDirectory(work.resolve("driver"));
    String classPath = spark.classPath(classes.toArray(Path[]::new));
    ProcessBuilder driver = spark.program(folder, classPath, arguments);

    Program program = Program.run(folder, SparkHome.on(hosts.first(), driver), LIMIT);

    program.assertSuccess();
    awaitNoFiles();
    return program;
  }

  private static void set(List<String> arguments, String key, String value) {
    arguments.addAll(List.of("--conf", key + "=" + value));
  }

  private void awaitNoFiles() {
    await("executors have deleted their files")
        .atMost(EXECUTORS_LIMIT)
        .untilAsserted(
            () -> {
              assertThat(hosts.first().files()).as("files left on the first host").isEmpty();
              assertThat(hosts.second().files()).as("files left on the second host").isEmpty();
            });
  }

  /** Ends the daemons, then the hosts; nothing of them may be left. */
  @Override
  public void close() throws IOException {
    try (hosts) {
      cluster.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while daemons end", e);
    }
  }
}
