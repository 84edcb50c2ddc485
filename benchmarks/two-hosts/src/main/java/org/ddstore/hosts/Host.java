// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One of {@link TwoHosts}, with its own network, host name, /etc/hosts, boot id and /dev/shm. The
 * rest of the file system and the process ids are those of the machine. All methods are local and
 * thread-safe.
 */
public final class Host {
  static final String INTERFACE = "eth0";
  private static final String SHARED_MEMORY = "/dev/shm";

  /** Columns of /proc/net/dev, proc(5): 8 receive counters, then 8 transmit counters. */
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

  /** Returns the host name, which both hosts can resolve. */
  public String name() {
    return name;
  }

  /** Returns the IPv4 address on the link; each host has its own 127.0.0.1. */
  public String address() {
    return address;
  }

  /**
   * Returns a builder of a command on this host, in the working directory of this JVM; nothing is
   * started. The process id is that of the command itself.
   */
  public ProcessBuilder command(List<String> command) {
    List<String> all =
        new ArrayList<>(
            List.of("nsenter", "-t", Long.toString(holder.pid()), "-n", "-m", "-u", "-w", "--"));
    all.addAll(command);
    return new ProcessBuilder(all);
  }

  /** Returns the path by which this JVM accesses a file of the host while the host is open. */
  public Path path(String absolute) {
    return Path.of("/proc/" + holder.pid() + "/root" + absolute);
  }

  /** Returns the files in the host's /dev/shm, as sorted paths on the host. */
  public List<String> files() throws IOException {
    Path root = path(SHARED_MEMORY);
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(file -> !file.equals(root))
          .map(file -> SHARED_MEMORY + "/" + root.relativize(file))
          .sorted()
          .toList();
    }
  }

  /** Returns all processes that run on the host. */
  public List<ProcessHandle> processes() throws IOException {
    return holder.processes();
  }

  /** Returns the number of bytes sent to the other host, including headers. */
  public long sentBytes() throws IOException {
    return counter(SENT_BYTES);
  }

  /** Returns the number of bytes received from the other host, including headers. */
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

  /** Runs a program on this host and waits for its exit. */
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
