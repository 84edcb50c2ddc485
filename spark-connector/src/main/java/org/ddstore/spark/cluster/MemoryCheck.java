// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;

/**
 * The check of a rank, before it allocates, that its shard fits. It refuses only loads that are
 * certain to fail: other ranks of the host may already have filled their shards, so it compares the
 * free space with this rank's shard, and the total space with the shards of all ranks of the host.
 */
public final class MemoryCheck {
  private static final String FILE_BACKING =
      OptionKeys.SETTING_BACKING + "=file with " + OptionKeys.SETTING_DIRECTORY + " on a disk";

  private MemoryCheck() {}

  /**
   * The memory that a load is about to allocate.
   *
   * @param rankBytes bytes for the calling rank
   * @param limitedBytes bytes for all ranks of the executors that share the memory limit of this
   *     JVM
   * @param hostBytes bytes for all ranks of this host
   * @param residentBytes bytes that resident stores of these executors already occupy, as far as
   *     known; the free space of a directory already excludes them
   * @param executors number of the executors that share the limit, see {@link
   *     HostProbe#executorsUnderLimit}
   */
  public record Need(
      long rankBytes, long limitedBytes, long hostBytes, long residentBytes, int executors) {}

  /**
   * Checks a need, unless {@code spark.ddstore.checkMemory} is false.
   *
   * @param host facts of the host and the directory of the segments
   * @throws PreflightException if memory is too small; it names the required and the available
   *     memory and the remedy
   */
  public static void check(HostFacts host, Need need, Settings settings) {
    if (settings.checkMemory()) {
      List<Problem> problems = problems(host, need, settings);
      if (!problems.isEmpty()) {
        throw new PreflightException(
            "cannot load a shard of %s on %s:"
                .formatted(ByteSize.format(need.rankBytes), host.hostName()),
            problems);
      }
    }
  }

  /**
   * Checks that the directory of the segments exists and is a directory.
   *
   * @throws PreflightException if not; it names the directory
   */
  public static void checkDirectory(Settings settings) {
    Path directory = settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
    if (!Files.isDirectory(directory)) {
      throw new PreflightException(
          "cannot load a shard:", List.of(noDirectory(directory, HostProbe.read(directory))));
    }
  }

  public static List<Problem> problems(HostFacts host, Need need, Settings settings) {
    List<Problem> problems = new ArrayList<>();
    Path directory = settings.segmentDirectory().orElse(null);
    if (directory != null && !(Files.isDirectory(directory) && Files.isWritable(directory))) {
      problems.add(noDirectory(directory, host));
    } else if (directory != null && host.sharedMemoryFreeBytes() != null) {
      if (need.hostBytes > host.sharedMemoryTotalBytes()) {
        problems.add(
            directoryTooSmall("the ranks of this host need", need.hostBytes, host, settings));
      } else if (need.rankBytes > host.sharedMemoryFreeBytes()) {
        problems.add(directoryTooSmall("this rank needs", need.rankBytes, host, settings));
      }
    }
    addContainer(problems, host, need, settings);
    return problems;
  }

  /** Compares with the container's limit; the kernel can drop pages of files, so they are free. */
  private static void addContainer(
      List<Problem> problems, HostFacts host, Need need, Settings settings) {
    if (host.containerLimitBytes() == null || settings.backing() == Backing.FILE) {
      return;
    }
    long missingBytes =
        need.executors * host.maxHeapBytes()
            + need.limitedBytes
            + need.residentBytes
            - host.containerLimitBytes();
    if (missingBytes > 0) {
      problems.add(
          new Problem(
              "%s of %s and shards of %s%s exceed the container's limit of %s by %s"
                  .formatted(
                      need.executors == 1 ? "heap" : need.executors + " heaps",
                      ByteSize.format(host.maxHeapBytes()),
                      ByteSize.format(need.limitedBytes),
                      residentPhrase(need.residentBytes),
                      ByteSize.format(host.containerLimitBytes()),
                      ByteSize.format(missingBytes)),
              dropRemedy(need.residentBytes)
                  + "raise %s by %s, or lower"
                      .formatted(
                          need.executors == 1
                              ? "spark.executor.memoryOverhead (or the container's limit)"
                              : "the limit, which the executors share,",
                          ByteSize.toSetting(missingBytes))
                  + " spark.executor.memory, or "
                  + FILE_BACKING));
    }
  }

  static String residentPhrase(long residentBytes) {
    return residentBytes == 0
        ? ""
        : " beside %s of resident stores".formatted(ByteSize.format(residentBytes));
  }

  static String dropRemedy(long residentBytes) {
    return residentBytes == 0 ? "" : "drop resident stores, including the one to replace, or ";
  }

  static Problem noDirectory(Path directory, HostFacts host) {
    return new Problem(
        "path %s on %s is not a directory in which user %s can write"
            .formatted(directory, host.hostName(), host.user()),
        "create it on every executor, or set " + OptionKeys.SETTING_DIRECTORY + " to another");
  }

  /**
   * @param who beginning of the message: subject and verb, as in {@code this rank needs}
   */
  static Problem directoryTooSmall(String who, long bytes, HostFacts host, Settings settings) {
    String missing =
        "%s %s in %s, which has %s free of %s"
            .formatted(
                who,
                ByteSize.format(bytes),
                host.sharedMemoryPath(),
                ByteSize.format(host.sharedMemoryFreeBytes()),
                ByteSize.format(host.sharedMemoryTotalBytes()));
    return new Problem(
        missing, moreSpace(settings, ByteSize.toSetting(bytes), host.sharedMemoryPath()));
  }

  private static String moreSpace(Settings settings, String size, Object directory) {
    if (settings.backing() == Backing.FILE) {
      return OptionKeys.SETTING_DIRECTORY + " on a larger disk, or more executors";
    }
    return ("a larger mount (mount -o remount,size=%s %s; docker run --shm-size; on Kubernetes an"
                + " emptyDir of medium Memory), or ")
            .formatted(size, directory)
        + FILE_BACKING;
  }

  /** Returns whether a write failed because the disk is full, by the text of the C library. */
  public static boolean isFull(IOException e) {
    return String.valueOf(e.getMessage()).contains("No space left");
  }

  /** Fills a shard, and adds the remedy to the exception if the disk is full. */
  public static void naming(Settings settings, Runnable fill) {
    try {
      fill.run();
    } catch (DDStoreException e) {
      if (e.getCause() instanceof IOException io && isFull(io)) {
        throw full(e, settings);
      }
      throw e;
    }
  }

  /** Returns the exception of a rank that ran out of space after the check, with the remedy. */
  public static DDStoreException full(Exception e, Settings settings) {
    Path directory = settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
    return new DDStoreException(
        "%s. Remedy: %s".formatted(e.getMessage(), moreSpace(settings, "<size>", directory)), e);
  }
}
