// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.benchmarks.driver.JavaCommand;
import org.ddstore.hosts.Host;
import org.ddstore.hosts.Requirements;
import org.ddstore.hosts.TwoHosts;

/**
 * Where the processes of a campaign run: this machine, or as root one or two hosts in namespaces,
 * each with a network and a small /dev/shm of its own. Closed by its opener, which kills all
 * processes on the hosts.
 */
final class Site implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SHARED_MEMORY = "/dev/shm";
  private static final String REMOUNT = "remount,size=192m";
  private static final String FILLER = SHARED_MEMORY + "/filler";
  private static final int FREE_BYTES = 1 << 16;
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int MASTER_PORT = 7077;
  private static final String EXECUTOR = "CoarseGrainedExecutorBackend";

  private final TwoHosts hosts; // null on this machine
  private final List<Host> used;
  private final ChildProcesses processes = new ChildProcesses(PATIENCE);
  private final Map<FaultKind, String> missing = new LinkedHashMap<>();
  private String master; // null if the driver starts its executors

  private Site(TwoHosts hosts, int count) {
    this.hosts = hosts;
    this.used =
        hosts == null ? List.of() : List.of(hosts.first(), hosts.second()).subList(0, count);
  }

  /**
   * Opens one or two hosts.
   *
   * @param work directory of the workers of two hosts
   */
  static Site open(int count, Path work) throws IOException {
    Optional<String> problem = Requirements.missing();
    if (problem.isPresent()) {
      Site site = new Site(null, 0);
      site.missing.put(FaultKind.FULL, problem.get());
      site.missing.put(FaultKind.LINK, problem.get());
      return site;
    }
    Site site = new Site(TwoHosts.open(), count);
    try {
      for (Host host : site.used) {
        run(host.command(List.of("mount", "-o", REMOUNT, SHARED_MEMORY)));
      }
      if (count == 2) {
        site.startCluster(work);
      } else {
        site.missing.put(FaultKind.LINK, "one host: use --hosts 2");
      }
      return site;
    } catch (IOException | RuntimeException e) {
      site.close();
      throw e;
    }
  }

  private static void run(ProcessBuilder command) throws IOException {
    Process process = command.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.onExit().join().exitValue();
    if (status != 0) {
      throw new IOException(
          "%s exited with status %d: %s".formatted(command.command(), status, output.strip()));
    }
  }

  private void startCluster(Path work) throws IOException {
    master = "spark://%s:%d".formatted(used.get(0).address(), MASTER_PORT);
    start(used.get(0), work, "master.Master", List.of("--port", "" + MASTER_PORT));
    for (Host host : used) {
      int cores = host.equals(used.get(0)) ? 4 : 2; // three executors of 2 or four of 1
      start(
          host,
          work,
          "worker.Worker",
          List.of("--cores", "" + cores, "--memory", "4g", "--work-dir", "" + work, master));
    }
  }

  private void start(Host host, Path work, String daemon, List<String> more) throws IOException {
    List<String> command = JavaCommand.of(Site.class);
    command.remove(command.size() - 1);
    command.addAll(
        command.size() - 2,
        List.of(
            "-Dlog4j2.configurationFile=" + ChaosCommand.LOGGING,
            "-Dspark.deploy.maxExecutorRetries=-1"));
    command.add("org.apache.spark.deploy." + daemon);
    command.addAll(List.of("--host", host.address(), "--webui-port", "0"));
    command.addAll(more);
    ProcessBuilder builder = host.command(command);
    builder.environment().put("SPARK_LOCAL_IP", host.address());
    builder.environment().put("SPARK_LOCAL_DIRS", work.toString());
    processes.start(
        builder
            .redirectErrorStream(true)
            .redirectOutput(work.resolve(daemon + "-" + host.name() + ".log").toFile()));
  }

  /** Returns the address of the master, empty if the driver starts its executors itself. */
  Optional<String> master() {
    return Optional.ofNullable(master);
  }

  /** Returns the address of the driver. */
  String address() {
    return used.isEmpty() ? "127.0.0.1" : used.get(0).address();
  }

  /** Returns the faults that can be injected here. */
  Set<FaultKind> faults() {
    Set<FaultKind> faults = EnumSet.allOf(FaultKind.class);
    faults.remove(FaultKind.NONE);
    faults.removeAll(missing.keySet());
    return faults;
  }

  /** Returns the faults that cannot be injected here, with the reasons. */
  Map<FaultKind, String> missing() {
    return missing;
  }

  /** Starts a program where the driver runs. */
  Process start(ProcessBuilder builder) throws IOException {
    List<String> command = builder.command();
    if (!used.isEmpty()) {
      builder.command(used.get(0).command(command).command());
    }
    return processes.start(builder);
  }

  /** Returns the executors that run, the oldest first. */
  List<ProcessHandle> executors() {
    return processes.all().stream()
        .flatMap(process -> process.descendants())
        .filter(Site::isExecutor)
        .sorted(Comparator.comparingLong(ProcessHandle::pid))
        .toList();
  }

  private static boolean isExecutor(ProcessHandle process) {
    try {
      Path line = Path.of("/proc/" + process.pid() + "/cmdline");
      return Files.readString(line, StandardCharsets.ISO_8859_1).contains(EXECUTOR);
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  /** Fills shared memory of a host but for a few pages. */
  void fill(int victim) throws IOException {
    byte[] block = new byte[BLOCK_BYTES];
    Path filler = filler(victim);
    try (OutputStream out =
        Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      // Full.
    }
    try (FileChannel channel = FileChannel.open(filler, StandardOpenOption.WRITE)) {
      channel.truncate(Math.max(0, channel.size() - FREE_BYTES));
    }
  }

  void free(int victim) throws IOException {
    Files.deleteIfExists(filler(victim));
  }

  private Path filler(int victim) {
    return used.get(victim % used.size()).path(FILLER);
  }

  /** Cuts the link: at once visible to senders, or without notice. */
  void cut(int victim) throws IOException {
    if (victim % 2 == 0) {
      hosts.link().down();
    } else {
      hosts.link().drop();
    }
  }

  void restoreLink() throws IOException {
    hosts.link().restore();
  }

  /** Returns files of ours in shared memory, of any process on the hosts, or of some processes. */
  List<String> sharedMemory(Set<ProcessHandle> processes) throws IOException {
    List<String> found = new ArrayList<>();
    for (Host host : used) {
      host.files().forEach(file -> found.add(host.name() + ": " + file));
    }
    if (used.isEmpty()) {
      List<Long> pids = processes.stream().map(ProcessHandle::pid).toList();
      try (Stream<Path> all = Files.list(Path.of(SHARED_MEMORY))) {
        all.map(Path::toString)
            .filter(name -> name.matches(".*/ddstore-\\d+-[0-9a-f]{16}-\\d+-[0-9a-f]{8}"))
            .filter(name -> pids.contains(Long.valueOf(name.split("-", -1)[3])))
            .forEach(found::add);
      } catch (NoSuchFileException e) {
        return List.of();
      }
    }
    return found;
  }

  @Override
  public void close() throws IOException {
    try {
      processes.close();
    } finally {
      if (hosts != null) {
        hosts.close();
      }
    }
  }
}
