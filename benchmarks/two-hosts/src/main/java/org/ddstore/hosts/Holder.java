// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The process that holds the namespaces of a host. The namespaces have no names: when their last
 * process exits, the kernel frees them together with interface and tmpfs, so nothing can be left
 * behind. The holder exits when its standard input ends, also if this JVM is killed, after killing
 * all processes in its namespaces.
 */
final class Holder implements AutoCloseable {
  private static final long PATIENCE_S = 60;
  private static final String READY = "ready";

  /**
   * Arguments: name of the host, text of /etc/hosts. Terminal signals go to the whole process group
   * and are ignored: the script ends with this JVM. The names in /proc are listed before "stat"
   * starts, because otherwise each pass would find its own process.
   */
  private static final String SCRIPT =
      """
      set -e
      trap '' INT TERM HUP
      echo "$1" >/proc/sys/kernel/hostname
      mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /dev/shm
      printf '%s' "$2" >/dev/shm/hosts
      mount --bind /dev/shm/hosts /etc/hosts
      rm /dev/shm/hosts
      cat /proc/sys/kernel/random/uuid >/dev/shm/boot_id
      mount --bind /dev/shm/boot_id /proc/sys/kernel/random/boot_id
      rm /dev/shm/boot_id
      ip link set lo up
      echo ready
      read -r _ || true
      own=$(stat -L -c %i /proc/$$/ns/net)
      while :; do
        set -- /proc/[0-9]*/ns/net
        all=$(stat -L -c '%i %n' "$@" 2>/dev/null) || true
        left=
        while read -r net path; do
          pid=${path#/proc/}
          pid=${pid%%/*}
          if [ "$net" = "$own" ] && [ "$pid" != $$ ]; then
            kill -KILL "$pid" 2>/dev/null || true
            left=$pid
          fi
        done <<END
      $all
      END
        [ -n "$left" ] || exit 0
      done
      """;

  private final Process process;
  private final String name;
  private final Optional<Path> network;

  private Holder(Process process, String name) throws IOException {
    this.process = process;
    this.name = name;
    awaitReady();
    this.network = networkOf(process.pid());
  }

  /**
   * @param hostsFile content of /etc/hosts on the host
   */
  static Holder start(String name, String hostsFile) throws IOException {
    Process process =
        new ProcessBuilder("unshare", "-n", "-m", "-u", "sh", "-c", SCRIPT, "sh", name, hostsFile)
            .redirectErrorStream(true)
            .start();
    try {
      return new Holder(process, name);
    } catch (IOException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private void awaitReady() throws IOException {
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    StringBuilder output = new StringBuilder();
    for (String line = lines.readLine(); !READY.equals(line); line = lines.readLine()) {
      if (line == null) {
        throw new IOException("cannot set up host " + name + ": " + output);
      }
      output.append(line).append(' ');
    }
  }

  long pid() {
    if (!process.isAlive()) {
      throw new IllegalStateException("closed: host " + name);
    }
    return process.pid();
  }

  /** Returns the running processes of the host, except this one. */
  List<ProcessHandle> processes() throws IOException {
    List<ProcessHandle> processes = new ArrayList<>();
    for (ProcessHandle other : ProcessHandle.allProcesses().toList()) {
      if (other.pid() != process.pid() && network.equals(networkOf(other.pid()))) {
        processes.add(other);
      }
    }
    return processes;
  }

  /** Returns the network namespace of a process; empty if it has exited, even as a zombie. */
  static Optional<Path> networkOf(long pid) throws IOException {
    try {
      return Optional.of(Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/net")));
    } catch (FileSystemException e) {
      return Optional.empty();
    }
  }

  /** Kills all processes of the host and waits for their exit. Idempotent. */
  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        throw new IOException(
            "processes of host %s still running after %d s: %s"
                .formatted(name, PATIENCE_S, processes()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the end of host " + name);
    }
  }
}
