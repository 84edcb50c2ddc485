// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory limit of the control group of this process: cgroup v2, or v1 if it has the memory
 * controller.
 *
 * @param limitBytes smallest limit of the group and its ancestors; null if unlimited
 * @param usedBytes memory use of the group with this limit, or of the process's own group without a
 *     limit; null if unknown
 */
record ControlGroup(Long limitBytes, Long usedBytes) {
  static final ControlGroup NONE = new ControlGroup(null, null);

  /** Lower bound of "no limit": version 1 writes the largest multiple of the page size. */
  private static final long UNLIMITED_BYTES = 1L << 62;

  static ControlGroup ofThisProcess() {
    try {
      return read(Files.readString(Path.of("/proc/self/cgroup")), Path.of("/sys/fs/cgroup"));
    } catch (IOException e) {
      return NONE; // not Linux
    }
  }

  /**
   * @param membership text of {@code /proc/self/cgroup}
   * @param root mount point of the groups
   */
  static ControlGroup read(String membership, Path root) {
    ControlGroup found = NONE;
    for (String line : membership.lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length < 3) {
        continue;
      }
      if (List.of(parts[1].split(",")).contains("memory")) {
        return read(
            root.resolve("memory"), parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes");
      }
      if (parts[0].equals("0") && parts[1].isEmpty()) {
        found = read(root, parts[2], "memory.max", "memory.current");
      }
    }
    return found;
  }

  /**
   * Returns the number of executors of an application in the control group of this process, as far
   * as their processes are visible. Executors of YARN and Kubernetes have groups of their own;
   * those of a standalone worker, also in a job of Slurm, share that of the worker.
   *
   * @param proc mount point of proc(5)
   */
  static int executors(Path proc, String applicationId) {
    String argument = "\0--app-id\0%s\0".formatted(applicationId);
    int count = 0;
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
      String own = Files.readString(proc.resolve("self/cgroup"));
      for (Path process : processes) {
        if (text(process.resolve("cmdline")).contains(argument)
            && text(process.resolve("cgroup")).equals(own)) {
          count++;
        }
      }
    } catch (IOException e) {
      return 0; // not Linux
    }
    return count;
  }

  /**
   * Returns the text of a file; empty if it cannot be read, as that of a process that has ended.
   */
  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  private static ControlGroup read(Path root, String group, String limitFile, String usedFile) {
    Path own = root.resolve(group.substring(1)).normalize();
    // In a container the path is often that of the host, while the mount has the own group at /.
    Path directory = own.startsWith(root) && Files.isDirectory(own) ? own : root;
    ControlGroup tightest = new ControlGroup(null, number(directory.resolve(usedFile)));
    for (; directory.startsWith(root); directory = directory.getParent()) {
      Long limit = number(directory.resolve(limitFile));
      if (limit != null && (tightest.limitBytes == null || limit < tightest.limitBytes)) {
        tightest = new ControlGroup(limit, number(directory.resolve(usedFile)));
      }
    }
    return tightest;
  }

  /** Returns the number in a file, or null if the file does not exist or holds no limit. */
  private static Long number(Path file) {
    try {
      String text = Files.readString(file).strip();
      if (text.equals("max")) {
        return null;
      }
      long value = Long.parseLong(text);
      return value >= UNLIMITED_BYTES ? null : value;
    } catch (IOException | NumberFormatException e) {
      return null;
    }
  }
}
