// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.HashMap;
import java.util.List;
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
  /** System property: the notebook is executed without a front end. */
  public static final String EXECUTES = "ddstore.notebook.executes";

  /** Returns two executors with two cores and 1 GiB of heap each. */
  public static NotebookOptions defaults() {
    return of(List.of());
  }

  /** Returns whether all processes of Spark run on this machine. */
  boolean isLocal() {
    return master.orElse("local").startsWith("local");
  }

  /** Returns these options with other settings of Spark. */
  public NotebookOptions settings(Map<String, String> other) {
    return new NotebookOptions(master, executors, cores, memoryMb, other);
  }

  /** Returns the options in arguments of {@code ./ddstore notebook}, such as {@code --cores 2}. */
  public static NotebookOptions of(List<String> arguments) {
    Map<String, String> values = new HashMap<>();
    Map<String, String> settings = new HashMap<>();
    for (int i = 0; i < arguments.size(); i += 2) {
      String value = arguments.get(i + 1);
      if (arguments.get(i).equals("--conf")) {
        settings.put(value.replaceFirst("(?s)=.*", ""), value.replaceFirst("(?s)[^=]*=", ""));
      } else {
        values.put(arguments.get(i), value);
      }
    }
    return new NotebookOptions(
        Optional.ofNullable(values.get("--master")),
        Integer.parseInt(values.getOrDefault("--executors", "2")),
        Integer.parseInt(values.getOrDefault("--cores", "2")),
        Integer.parseInt(values.getOrDefault("--memory", "1024")),
        settings);
  }
}
