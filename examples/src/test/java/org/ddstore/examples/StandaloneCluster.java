// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.ddstore.hosts.Host;
import org.ddstore.hosts.TwoHosts;

/**
 * A master and workers, as the start scripts of a distribution run them, on free ports of loopback
 * or of {@link TwoHosts}.
 */
final class StandaloneCluster {
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final Duration STOP_LIMIT = Duration.ofMinutes(2);
  private static final Pattern MASTER = Pattern.compile("Starting Spark master at (spark://\\S+)");
  private static final Pattern REGISTERED = Pattern.compile("Successfully registered with master");

  private static final String LOOPBACK = "127.0.0.1";

  private final SparkHome spark;
  private final Path work;
  private final int coresEach;

  /** The master first. */
  private final List<ProcessTree> daemons = new ArrayList<>();

  private String master;

  private StandaloneCluster(SparkHome spark, Path work, int coresEach) {
    this.spark = spark;
    this.work = work;
    this.coresEach = coresEach;
  }

  /** Starts the daemons, with one core a worker, and waits until all workers have registered. */
  static StandaloneCluster start(SparkHome spark, Path work, int workers) throws IOException {
    return start(
        new StandaloneCluster(spark, work, 1),
        Collections.nCopies(workers, new Site(LOOPBACK, program -> program)));
  }

  /** Starts the master on the first host and a worker on each. */
  static StandaloneCluster start(SparkHome spark, Path work, TwoHosts hosts, int coresEach)
      throws IOException {
    return start(
        new StandaloneCluster(spark, work, coresEach),
        Stream.of(hosts.first(), hosts.second()).map(Site::on).toList());
  }

  /**
   * The host on which a daemon runs.
   *
   * @param move changes a program that runs here into one that runs there
   */
  private record Site(String address, UnaryOperator<ProcessBuilder> move) {
    static Site on(Host host) {
      return new Site(host.address(), program -> SparkHome.on(host, program));
    }
  }

  private static StandaloneCluster start(StandaloneCluster cluster, List<Site> workers)
      throws IOException {
    try {
      cluster.startMaster(workers.get(0));
      cluster.startWorkers(workers);
      return cluster;
    } catch (IOException | RuntimeException | Error e) {
      cluster.daemons.forEach(ProcessTree::close);
      throw e;
    }
  }

  private void startMaster(Site site) throws IOException {
    Path log = startDaemon(site, "master", "org.apache.spark.deploy.master.Master", List.of());
    master = awaitLine(log, MASTER).group(1);
  }

  private void startWorkers(List<Site> sites) throws IOException {
    List<Path> logs = new ArrayList<>();
    for (int i = 0; i < sites.size(); i++) {
      logs.add(
          startDaemon(
              sites.get(i),
              "worker-" + i,
              "org.apache.spark.deploy.worker.Worker",
              List.of(
                  "--cores",
                  Integer.toString(coresEach),
                  "--memory",
                  coresEach + "g",
                  "--work-dir",
                  workDirectory(i).toString(),
                  master)));
    }
    logs.forEach(log -> awaitLine(log, REGISTERED));
  }

  private Path startDaemon(Site site, String name, String mainClass, List<String> more)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of(mainClass));
    arguments.addAll(List.of("--host", site.address(), "--port", "0", "--webui-port", "0"));
    arguments.addAll(more);
    Path folder = Files.createDirectories(work.resolve(name));
    Path log = folder.resolve("log.txt");
    ProcessBuilder daemon = site.move().apply(spark.program(folder, spark.classPath(), arguments));
    daemons.add(ProcessTree.start(daemon.redirectErrorStream(true).redirectOutput(log.toFile())));
    return log;
  }

  private static Matcher awaitLine(Path log, Pattern line) {
    return await(line.pattern() + " in " + log)
        .atMost(START_LIMIT)
        .until(
            () -> {
              Matcher found = line.matcher(Files.readString(log, UTF_8));
              return found.find() ? found : null;
            },
            found -> found != null);
  }

  /** Returns the value of {@code --master}. */
  String master() {
    return master;
  }

  /**
   * Returns the folder in which a worker makes a folder for each application, and in it one for
   * each executor.
   */
  Path workDirectory(int worker) {
    return work.resolve("worker-" + worker).resolve("executors");
  }

  /** Ends the workers, then the master; nothing of them may be left. */
  void stop() throws IOException, InterruptedException {
    try {
      for (int i = daemons.size() - 1; i >= 0; i--) {
        daemons.get(i).stop(STOP_LIMIT);
      }
    } finally {
      daemons.forEach(ProcessTree::close);
    }
    for (ProcessTree daemon : daemons) {
      daemon.assertNothingLeft();
    }
  }
}
