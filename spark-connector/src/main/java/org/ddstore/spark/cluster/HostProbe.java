// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkEnv;
import org.ddstore.spark.types.HostFacts;

/** A probe of this host that reads only the JDK and /proc, in a few milliseconds. */
public final class HostProbe {
  private HostProbe() {}

  /**
   * Reads the current facts of this process.
   *
   * @param sharedMemory directory of the segments
   */
  public static HostFacts read(Path sharedMemory) {
    FileSpace space = FileSpace.of(sharedMemory);
    LockedMemoryLimit locked = LockedMemoryLimit.ofThisProcess();
    ControlGroup group = ControlGroup.ofThisProcess();
    return new HostFacts(
        localHostName(),
        ProcessHandle.current().pid(),
        null,
        System.getProperty("user.name"),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("os.arch"),
        System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")",
        Runtime.getRuntime().availableProcessors(),
        physicalMemory(),
        Runtime.getRuntime().maxMemory(),
        sharedMemory.toString(),
        space.type,
        space.totalBytes,
        space.freeBytes,
        locked.softBytes(),
        locked.hardBytes(),
        group.limitBytes(),
        group.usedBytes());
  }

  /**
   * Returns the number of executors of this application, this one included, that share the memory
   * limit of this process; 1 if there is no limit or they are not visible.
   *
   * @param host facts of this process
   */
  public static int executorsUnderLimit(HostFacts host) {
    SparkEnv env = SparkEnv.get();
    return host.containerLimitBytes() == null || env == null
        ? 1
        : Math.max(1, ControlGroup.executors(Path.of("/proc"), env.conf().getAppId()));
  }

  private static String localHostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown"; // the name only serves messages
    }
  }

  private static long physicalMemory() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
        .getTotalMemorySize();
  }

  private record FileSpace(String type, Long totalBytes, Long freeBytes) {
    static FileSpace of(Path directory) {
      try {
        FileStore store = Files.getFileStore(directory);
        return new FileSpace(store.type(), store.getTotalSpace(), store.getUsableSpace());
      } catch (IOException e) {
        return new FileSpace(null, null, null);
      }
    }
  }

  /**
   * The limit RLIMIT_MEMLOCK of a process, getrlimit(2), on the memory that it can pin for RDMA.
   *
   * @param softBytes soft limit; null if unlimited or unknown
   * @param hardBytes hard limit; null if unlimited or unknown
   */
  record LockedMemoryLimit(Long softBytes, Long hardBytes) {
    private static final Pattern LINE =
        Pattern.compile("(?m)^Max locked memory\\s+(\\d+|unlimited)\\s+(\\d+|unlimited)\\s");

    static LockedMemoryLimit ofThisProcess() {
      try {
        return parse(Files.readString(Path.of("/proc/self/limits")));
      } catch (IOException e) {
        return new LockedMemoryLimit(null, null); // not Linux
      }
    }

    /**
     * @param limits text of {@code /proc/self/limits}, proc(5)
     */
    static LockedMemoryLimit parse(String limits) {
      Matcher matcher = LINE.matcher(limits);
      return matcher.find()
          ? new LockedMemoryLimit(number(matcher.group(1)), number(matcher.group(2)))
          : new LockedMemoryLimit(null, null);
    }

    private static Long number(String text) {
      return text.equals("unlimited") ? null : Long.valueOf(text);
    }
  }
}
