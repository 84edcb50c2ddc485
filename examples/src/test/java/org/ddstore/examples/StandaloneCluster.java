package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.contract.ProcessTree;

/**
 * A master and workers of one core each, as the start scripts of a distribution run them, on free
 * ports of loopback.
 */
final class StandaloneCluster {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(60);
  private static final Pattern MASTER = Pattern.compile("Starting Spark master at (spark://\\S+)");
  private static final Pattern REGISTERED = Pattern.compile("Successfully registered with master");

  private final SparkHome spark;
  private final Path work;

  /** The master first. */
  private final List<ProcessTree> daemons = new ArrayList<>();

  private String master;

  private StandaloneCluster(SparkHome spark, Path work) {
    this.spark = spark;
    this.work = work;
  }

  /** Starts the daemons, and waits until all workers have registered. */
  static StandaloneCluster start(SparkHome spark, Path work, int workers) throws IOException {
    StandaloneCluster cluster = new StandaloneCluster(spark, work);
    try {
      cluster.startMaster();
      cluster.startWorkers(workers);
      return cluster;
    } catch (IOException | RuntimeException | Error e) {
      cluster.daemons.forEach(ProcessTree::close);
      throw e;
    }
  }

  private void startMaster() throws IOException {
    Path log = startDaemon("master", "org.apache.spark.deploy.master.Master", List.of());
    master = awaitLine(log, MASTER).group(1);
  }

  private void startWorkers(int workers) throws IOException {
    List<Path> logs = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      logs.add(
          startDaemon(
              "worker-" + i,
              "org.apache.spark.deploy.worker.Worker",
              List.of(
                  "--cores",
                  "1",
                  "--memory",
                  "1g",
                  "--work-dir",
                  workDirectory(i).toString(),
                  master)));
    }
    logs.forEach(log -> awaitLine(log, REGISTERED));
  }

  private Path startDaemon(String name, String mainClass, List<String> more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(mainClass));
    arguments.addAll(List.of("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"));
    arguments.addAll(more);
    Path folder = Files.createDirectories(work.resolve(name));
    Path log = folder.resolve("log.txt");
    ProcessBuilder daemon = spark.program(folder, spark.classPath(), arguments);
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

  /** For {@code --master}. */
  String master() {
    return master;
  }

  /** Where a worker makes a folder for each application, and in it one for each executor. */
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
