package org.ddstore.spark.cluster;

import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a process finds on its host. Made by any JVM from the JDK and /proc alone, in a few
 * milliseconds; sent from executors to the driver.
 *
 * @param executorId Spark's name of the executor ("driver" in the driver), null outside Spark
 * @param sharedMemoryFileSystem its type, as /proc/mounts names it: {@code tmpfs}, {@code nfs4};
 *     null if the directory is not there
 * @param sharedMemoryTotalBytes size of the file system that holds {@code sharedMemoryPath}; null
 *     if the directory is not there
 * @param sharedMemoryFreeBytes what a file there may still take; null as above
 * @param lockedMemorySoftBytes RLIMIT_MEMLOCK; null if unlimited
 * @param lockedMemoryHardBytes RLIMIT_MEMLOCK; null if unlimited
 * @param containerLimitBytes memory limit of the control group; null if unlimited
 * @param containerUsedBytes memory in use there; null if unknown
 */
public record HostFacts(
    String hostName,
    long pid,
    String executorId,
    String user,
    String os,
    String arch,
    String jdk,
    int processors,
    long physicalMemoryBytes,
    long maxHeapBytes,
    String sharedMemoryPath,
    String sharedMemoryFileSystem,
    Long sharedMemoryTotalBytes,
    Long sharedMemoryFreeBytes,
    Long lockedMemorySoftBytes,
    Long lockedMemoryHardBytes,
    Long containerLimitBytes,
    Long containerUsedBytes)
    implements Serializable {

  /**
   * Reads the facts of this process, now.
   *
   * @param sharedMemory the directory under which segments would lie
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

  HostFacts withExecutorId(String newExecutorId) {
    return new HostFacts(
        hostName,
        pid,
        newExecutorId,
        user,
        os,
        arch,
        jdk,
        processors,
        physicalMemoryBytes,
        maxHeapBytes,
        sharedMemoryPath,
        sharedMemoryFileSystem,
        sharedMemoryTotalBytes,
        sharedMemoryFreeBytes,
        lockedMemorySoftBytes,
        lockedMemoryHardBytes,
        containerLimitBytes,
        containerUsedBytes);
  }

  private static String localHostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown"; // a host without a name is no reason to fail
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
}
