package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.ddstore.contract.Needed;
import org.ddstore.hosts.Requirements;
import org.ddstore.hosts.TwoHosts;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Programs that spark-submit runs on a cluster of two hosts, each with a network and a /dev/shm of
 * its own. The driver is on the first host; executors have a core each. A test that looks into the
 * run of its program starts it itself.
 */
@Tag("system")
@Tag("slow")
abstract class OnTwoHosts {
  /** Up to eight JVMs share the processors of one machine. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @BeforeAll
  static void onlyWhereTwoHostsCanBe() {
    Optional<String> missing = Requirements.missing();
    Needed.check("two hosts", missing.isEmpty(), missing::orElseThrow);
  }

  /**
   * Runs a program to its end, which must be a success and leave no file on the hosts.
   *
   * @param work where the program and the cluster keep their files
   * @param executors of each host
   * @param classes of the driver beside Spark's
   * @param settings of Spark beside those of the network
   * @param application the other arguments of spark-submit
   */
  static Program submit(
      Path work,
      int executors,
      List<Path> classes,
      Map<String, String> settings,
      List<String> application)
      throws Exception {
    SparkHome spark = SparkHome.current();
    try (TwoHosts hosts = TwoHosts.open()) {
      StandaloneCluster cluster = StandaloneCluster.start(spark, work, hosts, executors);
      Program program;
      try {
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
        program = Program.run(folder, SparkHome.on(hosts.first(), driver), LIMIT);
      } finally {
        cluster.stop();
      }
      program.assertSuccess();
      assertThat(hosts.first().files()).as("files left on the first host").isEmpty();
      assertThat(hosts.second().files()).as("files left on the second host").isEmpty();
      return program;
    }
  }

  private static void set(List<String> arguments, String key, String value) {
    arguments.addAll(List.of("--conf", key + "=" + value));
  }
}
