package org.ddstore.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One of {@link TwoHosts}: a network, a host name, an /etc/hosts, a boot id and a /dev/shm of its
 * own. The rest of the file system and the process numbers are those of the machine. All methods
 * are local and may be called by any thread.
 */
public final class Host {
  static final String INTERFACE = "eth0";
  private static final String SHARED_MEMORY = "/dev/shm";

  /** Numbers of /proc/net/dev, proc(5): 8 of what was received, then 8 of what was sent. */
  private static final int RECEIVED_BYTES = 0;

  private static final int SENT_BYTES = 8;

  private final Holder holder;
  private final String name;
  private final String address;

  Host(Holder holder, String name, String address) {
    this.holder = holder;
    this.name = name;
    this.address = address;
  }

  /** Its host name, which both hosts can resolve. */
  public String name() {
    return name;
  }

  /** Its IPv4 address on the link; 127.0.0.1 is another one on each host. */
  public String address() {
    return address;
  }

  /**
   * A command that will run on this host, in the working directory of this JVM; nothing is started.
   * The process number will be that of the command itself.
   */
  public ProcessBuilder command(List<String> command) {
    List<String> all =
        new ArrayList<>(
            List.of("nsenter", "-t", Long.toString(holder.pid()), "-n", "-m", "-u", "-w", "--"));
    all.addAll(command);
    return new ProcessBuilder(all);
  }

  /** The path by which this JVM reaches a file of the host, while that is open. */
  public Path path(String absolute) {
    return Path.of("/proc/" + holder.pid() + "/root" + absolute);
  }

  /** What lies in the host's /dev/shm, as paths that the host itself would use, sorted. */
  public List<String> files() throws IOException {
    Path root = path(SHARED_MEMORY);
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(file -> !file.equals(root))
          .map(file -> SHARED_MEMORY + "/" + root.relativize(file))
          .sorted()
          .toList();
    }
  }

  /** What runs on the host now, whoever started it. */
  public List<ProcessHandle> processes() throws IOException {
    return holder.others();
  }

  /** Bytes that have left for the other host, headers included. */
  public long sentBytes() throws IOException {
    return counter(SENT_BYTES);
  }

  /** Bytes that have come from the other host, headers included. */
  public long receivedBytes() throws IOException {
    return counter(RECEIVED_BYTES);
  }

  private long counter(int number) throws IOException {
    Path counters = Path.of("/proc/" + holder.pid() + "/net/dev");
    for (String line : Files.readAllLines(counters)) {
      if (line.strip().startsWith(INTERFACE + ":")) {
        String[] numbers = line.substring(line.indexOf(':') + 1).strip().split(" +", -1);
        return Long.parseLong(numbers[number]);
      }
    }
    throw new IOException("no " + INTERFACE + " in " + counters);
  }

  /** Runs a program on this host to its end. */
  void run(String input, String... command) throws IOException {
    Program.run(command(List.of(command)).command(), input);
  }

  long holderPid() {
    return holder.pid();
  }

  @Override
  public String toString() {
    return name + " (" + address + ")";
  }
}
