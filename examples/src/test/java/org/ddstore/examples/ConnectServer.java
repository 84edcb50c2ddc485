// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.ddstore.contract.ProcessTree;
import org.ddstore.spark.Leftovers;

/**
 * A server of Spark Connect with two executors in JVMs of their own, on a free port of loopback.
 * Its clients have JVMs of their own, too.
 */
final class ConnectServer implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Pattern PORT =
      Pattern.compile("Successfully started service '\\S+SparkConnectService' on port (\\d+)");

  private final Path log;
  private final Path temporary;
  private final ProcessTree processes;
  private final String address;

  private ConnectServer(Path log, Path temporary, ProcessTree processes) {
    this.log = log;
    this.temporary = temporary;
    this.processes = processes;
    this.address = "sc://localhost:" + awaitPort(); // clients with a token need TLS elsewhere
  }

  /**
   * Starts an application that serves clients, by {@code spark-submit}, and waits for its port.
   *
   * @param application settings, jars and main class
   * @param own what the driver has on its class path beside Spark
   */
  static ConnectServer start(Path work, List<String> application, Path... own) throws IOException {
    SparkHome spark = SparkHome.connectServer();
    List<String> arguments = new ArrayList<>(List.of("org.apache.spark.deploy.SparkSubmit"));
    arguments.addAll(List.of("--master", "local-cluster[2,2,1024]"));
    for (String setting :
        List.of(
            "spark.driver.host=127.0.0.1",
            "spark.driver.bindAddress=127.0.0.1",
            "spark.ui.enabled=false",
            "spark.sql.shuffle.partitions=4",
            "spark.connect.grpc.binding.address=127.0.0.1",
            "spark.connect.grpc.binding.port=0")) {
      arguments.addAll(List.of("--conf", setting));
    }
    arguments.addAll(application);
    Path log = work.resolve("server.txt");
    ProcessBuilder server = spark.program(work, spark.classPath(own), arguments);
    server.redirectErrorStream(true).redirectOutput(log.toFile());
    ProcessTree processes = ProcessTree.start(server);
    try {
      return new ConnectServer(log, work.resolve("temporary"), processes);
    } catch (RuntimeException e) {
      processes.close();
      throw e;
    }
  }

  private String awaitPort() {
    return await("a port in " + log)
        .atMost(LIMIT)
        .until(
            () -> {
              assertThat(processes.isAlive()).as("the server runs; its log: %s", log).isTrue();
              Matcher line = PORT.matcher(Files.readString(log, UTF_8));
              return line.find() ? line.group(1) : "";
            },
            port -> !port.isEmpty());
  }

  /** Returns the address for {@code SparkSession.builder().remote(..)}. */
  String address() {
    return address;
  }

  /** Returns the folder of temporary files of the server and its executors. */
  Path temporary() {
    return temporary;
  }

  /** Returns the executors that run: a driver with a local cluster starts nothing else. */
  List<ProcessHandle> executors() {
    return processes.children();
  }

  /** Waits until no executor holds memory of a store. */
  void awaitNoSharedMemory() {
    await("no shared memory of executors")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              Set<Long> pids =
                  executors().stream().map(ProcessHandle::pid).collect(Collectors.toSet());
              Leftovers.assertNoSharedMemoryOf(pids);
            });
  }

  /** Ends the server as a service manager does; nothing of it may be left. */
  void stop() throws IOException, InterruptedException {
    processes.stop(LIMIT);
    processes.assertNothingLeft();
  }

  /** Kills what still runs. */
  @Override
  public void close() {
    processes.close();
  }
}
