package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory that a container leaves to this process: cgroup v2, and v1 where the memory controller
 * is still there.
 *
 * @param limitBytes the smallest limit of the group and those above it, null if there is none
 * @param usedBytes what the group that has this limit, or else the own one, uses; null if unknown
 */
record ControlGroup(Long limitBytes, Long usedBytes) {
  static final ControlGroup NONE = new ControlGroup(null, null);

  /** Version 1 writes "no limit" as the largest multiple of the page size. */
  private static final long UNLIMITED_BYTES = 1L << 62;

  static ControlGroup ofThisProcess() {
    try {
      return read(Files.readString(Path.of("/proc/self/cgroup")), Path.of("/sys/fs/cgroup"));
    } catch (IOException e) {
      return NONE; // not Linux: no such groups
    }
  }

  /**
   * @param membership the text of {@code /proc/self/cgroup}
   * @param root where the groups are mounted
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

  private static ControlGroup read(Path root, String group, String limitFile, String usedFile) {
    Path own = root.resolve(group.substring(1)).normalize();
    // Inside a container the path is often the host's, while the mount shows the own group at /.
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

  /** Null if the file is not there or says that there is no limit. */
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
