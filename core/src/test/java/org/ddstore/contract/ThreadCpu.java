// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** The processor time of a thread of this process, as counted by the kernel. */
public final class ThreadCpu {
  public static final long TICKS_PER_SECOND = 100;

  private static final int USER_TICKS = 11;

  private static final int KERNEL_TICKS = 12;

  private static final int NAME = 15;

  private ThreadCpu() {}

  /**
   * Ticks since the thread began; of all that the kernel cannot tell from it by their names.
   *
   * @param name as Java knows it
   * @return empty if there is no such thread
   */
  public static OptionalLong ticks(String name) throws IOException {
    List<Path> threads;
    try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
      threads = all.toList();
    }
    long ticks = 0;
    boolean isThere = false;
    for (Path thread : threads) {
      try {
        // "tid (name) state ..": the name may hold anything
        String stat = Files.readString(thread.resolve("stat"));
        int close = stat.lastIndexOf(')');
        if (isNamed(stat.substring(stat.indexOf('(') + 1, close), name)) {
          String[] words = stat.substring(close + 2).split(" ", -1);
          ticks += Long.parseLong(words[USER_TICKS]) + Long.parseLong(words[KERNEL_TICKS]);
          isThere = true;
        }
      } catch (NoSuchFileException e) {
        // It has just ended.
      }
    }
    return isThere ? OptionalLong.of(ticks) : OptionalLong.empty();
  }

  private static boolean isNamed(String shortened, String name) {
    if (name.length() <= NAME) {
      return shortened.equals(name);
    }
    String ends = name.substring(0, 7) + ".." + name.substring(name.length() - 6);
    return shortened.equals(name.substring(0, NAME)) || shortened.equals(ends);
  }

  public static long ticksDuring(int seconds, String name) throws IOException {
    long before = ticks(name).orElseThrow();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (System.nanoTime() < endNs) {
      LockSupport.parkNanos(endNs - System.nanoTime());
    }
    return ticks(name).orElseThrow() - before;
  }
}
