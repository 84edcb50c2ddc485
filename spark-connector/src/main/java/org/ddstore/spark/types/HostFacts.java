// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * The memory, limits and software of a host, as one process observes them.
 *
 * @param executorId Spark's id of the executor ("driver" in the driver), null outside Spark
 * @param sharedMemoryFileSystem type of the file system that holds {@code sharedMemoryPath}, as in
 *     /proc/mounts: {@code tmpfs}, {@code nfs4}; null if the directory does not exist
 * @param sharedMemoryTotalBytes size of that file system; null if the directory does not exist
 * @param sharedMemoryFreeBytes free space of that file system; null if the directory does not exist
 * @param lockedMemorySoftBytes soft limit RLIMIT_MEMLOCK; null if unlimited
 * @param lockedMemoryHardBytes hard limit RLIMIT_MEMLOCK; null if unlimited
 * @param containerLimitBytes memory limit of the control group; null if unlimited
 * @param containerUsedBytes memory in use in the control group; null if unknown
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
   * {@return a copy with the id of the executor}
   *
   * @param executorId Spark's id of the executor
   */
  public HostFacts executorId(String executorId) {
    return new HostFacts(
        hostName,
        pid,
        executorId,
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
