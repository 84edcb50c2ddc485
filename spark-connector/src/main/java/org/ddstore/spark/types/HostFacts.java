package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * What a process finds on its host.
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

  /** The same facts with the name of the executor. */
  public HostFacts withExecutorId(String newExecutorId) {
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
}
