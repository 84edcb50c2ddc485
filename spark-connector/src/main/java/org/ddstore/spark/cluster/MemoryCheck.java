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
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;

/**
 * Checks by a rank, before it allocates, that its shard can fit. Refuses only what is sure to fail:
 * other ranks of the host may already have filled theirs, so the free space is held against the own
 * shard alone, and the needs of all against the whole.
 */
public final class MemoryCheck {
  private static final String FILE_BACKING =
      "spark.ddstore.backing=file with spark.ddstore.directory on a disk";

  private MemoryCheck() {}

  /**
   * Bytes that are about to be allocated.
   *
   * @param rankBytes by the calling rank
   * @param executorBytes by all ranks of this JVM
   * @param hostBytes by all ranks of this host
   * @param residentBytes that resident stores have in this JVM already; the space that is free in a
   *     directory is less by them as it is
   */
  public record Need(long rankBytes, long executorBytes, long hostBytes, long residentBytes) {}

  /**
   * Does nothing if {@code spark.ddstore.checkMemory} is false.
   *
   * @param host facts read for the directory that {@code settings} name
   * @throws PreflightException naming what is needed, what is there and what helps
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
   * Does nothing if the directory of the segments is one.
   *
   * @throws PreflightException naming it
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

  /** Pages of a file on a disk are dropped under pressure, so they do not count. */
  private static void addContainer(
      List<Problem> problems, HostFacts host, Need need, Settings settings) {
    if (host.containerLimitBytes() == null || settings.backing() == Backing.FILE) {
      return;
    }
    long missingBytes =
        host.maxHeapBytes() + need.executorBytes + need.residentBytes - host.containerLimitBytes();
    if (missingBytes > 0) {
      problems.add(
          new Problem(
              "heap of %s and shards of %s%s exceed the container's limit of %s by %s"
                  .formatted(
                      ByteSize.format(host.maxHeapBytes()),
                      ByteSize.format(need.executorBytes),
                      beside(need.residentBytes),
                      ByteSize.format(host.containerLimitBytes()),
                      ByteSize.format(missingBytes)),
              dropping(need.residentBytes)
                  + "raise spark.executor.memoryOverhead (or the container's limit) by %s, or lower"
                      .formatted(ByteSize.toSetting(missingBytes))
                  + " spark.executor.memory, or "
                  + FILE_BACKING));
    }
  }

  /** What of the memory is taken by resident stores, for a sentence. */
  static String beside(long residentBytes) {
    return residentBytes == 0
        ? ""
        : " beside %s of resident stores".formatted(ByteSize.format(residentBytes));
  }

  /** The remedy that there is where resident stores have memory. */
  static String dropping(long residentBytes) {
    return residentBytes == 0 ? "" : "drop resident stores, the one to be replaced too, or ";
  }

  static Problem noDirectory(Path directory, HostFacts host) {
    return new Problem(
        "%s on %s is not a directory in which %s may write"
            .formatted(directory, host.hostName(), host.user()),
        "make it on every executor, or name another: spark.ddstore.directory");
  }

  /**
   * @param who whose need it is, with the verb
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
      return "spark.ddstore.directory on a larger disk, or more executors";
    }
    return ("a larger mount (mount -o remount,size=%s %s; docker run --shm-size; on Kubernetes an"
                + " emptyDir of medium Memory), or ")
            .formatted(size, directory)
        + FILE_BACKING;
  }

  /** True if a file could not be written for want of space, in the words of the C library. */
  public static boolean isFull(IOException e) {
    return String.valueOf(e.getMessage()).contains("No space left");
  }

  /** Fills a shard; if there is no room, the error says what to do. */
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

  /** The failure of a rank whose memory was full, though it looked large enough, and what helps. */
  public static DDStoreException full(Exception e, Settings settings) {
    Path directory = settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
    return new DDStoreException(
        "%s. What helps: %s".formatted(e.getMessage(), moreSpace(settings, "<size>", directory)),
        e);
  }
}
