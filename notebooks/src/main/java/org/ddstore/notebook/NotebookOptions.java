// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.Map;
import java.util.Optional;

/**
 * The Spark application of a notebook.
 *
 * @param master URL of Spark's master; empty for executors of this machine
 * @param executors number of executors, ignored if there is a master
 * @param cores cores of each executor, ignored if there is a master
 * @param memoryMb heap of each executor in MiB, ignored if there is a master
 * @param settings settings of Spark
 */
public record NotebookOptions(
    Optional<String> master, int executors, int cores, int memoryMb, Map<String, String> settings) {
  private static final int DEFAULT_EXECUTORS = 2;
  private static final int DEFAULT_CORES = 2;
  private static final int DEFAULT_MEMORY_MB = 1024;

  /** Checks the ranges, and copies the settings. */
  public NotebookOptions {
    requirePositive("executors", executors);
    requirePositive("cores", cores);
    requirePositive("memory", memoryMb);
    settings = Map.copyOf(settings);
  }

  private static void requirePositive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException("%s: %d is below 1".formatted(name, value));
    }
  }

  /** Returns two executors with two cores and 1 GiB of heap each. */
  public static NotebookOptions defaults() {
    return new NotebookOptions(
        Optional.empty(), DEFAULT_EXECUTORS, DEFAULT_CORES, DEFAULT_MEMORY_MB, Map.of());
  }

  /** Returns these options with other settings of Spark. */
  public NotebookOptions settings(Map<String, String> other) {
    return new NotebookOptions(master, executors, cores, memoryMb, other);
  }
}
