// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * The number of tasks that Spark runs at the same time in this process. Memory that every task may
 * use is divided by it.
 */
public final class TaskSlots {
  /** Option of every executor backend of Spark; the settings do not tell what a worker offered. */
  private static final Pattern EXECUTOR_CORES = Pattern.compile("--cores (\\d+)");

  private static final Pattern LOCAL_MASTER = Pattern.compile("local(?:\\[(\\d+|\\*)(?:,.*)?\\])?");

  private TaskSlots() {}

  /** Returns the number of tasks that run at the same time in this process; at least 1. */
  public static int ofProcess() {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return Runtime.getRuntime().availableProcessors();
    }
    SparkConf conf = env.conf();
    String command = System.getProperty("sun.java.command", "");
    return of(
        env.executorId(),
        command,
        conf.get("spark.master", ""),
        Runtime.getRuntime().availableProcessors(),
        conf.getInt("spark.task.cpus", 1));
  }

  static int of(String executor, String command, String master, int processors, int taskCpus) {
    Matcher cores = EXECUTOR_CORES.matcher(command);
    Matcher local = LOCAL_MASTER.matcher(master);
    int count = executor.equals("driver") ? 1 : processors; // a driver of executors runs no task
    if (!executor.equals("driver") && cores.find()) {
      count = Integer.parseInt(cores.group(1));
    } else if (local.matches()) {
      count =
          local.group(1) == null
              ? 1
              : "*".equals(local.group(1)) ? processors : Integer.parseInt(local.group(1));
    }
    return Math.max(1, count / Math.max(1, taskCpus));
  }
}
