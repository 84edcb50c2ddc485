// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Timer;
import java.util.TimerTask;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.SparkStatusTracker;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Help.Ansi;
import scala.Option;

/**
 * A progress bar with the time that has passed, on standard error if that is a terminal, otherwise
 * nothing. {@link #close()} removes it. Owns the bar and a thread.
 */
public final class Progress implements AutoCloseable {
  private static final int INTERVAL_MS = 500;
  private static final int UNKNOWN = -1;

  private final ProgressBar bar; // null without a terminal
  private Timer clock; // null if the caller counts the steps

  private Progress(ProgressBar bar) {
    this.bar = bar;
  }

  /**
   * Opens a bar for steps that the caller counts.
   *
   * @param task short name of the task
   * @param steps total number of steps
   */
  public static Progress open(String task, long steps) {
    return new Progress(isTerminal() ? bar(task, steps) : null);
  }

  /**
   * Opens a bar that counts the tasks of the stages that Spark runs in this JVM.
   *
   * @param task short name of the task
   */
  public static Progress ofSpark(String task) {
    if (!isTerminal()) {
      return new Progress(null);
    }
    Progress progress = new Progress(bar(task, UNKNOWN));
    progress.clock = new Timer("ddstore-progress", true);
    progress.clock.schedule(
        new TimerTask() {
          @Override
          public void run() {
            progress.countTasks();
          }
        },
        0,
        INTERVAL_MS);
    return progress;
  }

  private static ProgressBar bar(String task, long steps) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(steps)
        .setUpdateIntervalMillis(INTERVAL_MS)
        .setStyle(
            Ansi.AUTO.enabled()
                ? ProgressBarStyle.COLORFUL_UNICODE_BLOCK
                : ProgressBarStyle.UNICODE_BLOCK)
        .setMaxRenderedLength(Table.WIDTH - 1)
        .clearDisplayOnFinish()
        .setConsumer(new ConsoleProgressBarConsumer(System.err))
        .build();
  }

  /**
   * Returns whether standard error is a terminal; {@code System.console()} checks other streams.
   */
  public static boolean isTerminal() {
    return isTerminal(2);
  }

  /**
   * Returns whether a stream is a terminal.
   *
   * @param descriptor 1 for standard output, 2 for standard error
   */
  static boolean isTerminal(int descriptor) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).startsWith("/dev/pts");
    } catch (IOException e) {
      return false;
    }
  }

  /** Sets the number of completed steps. Callable from any thread. */
  public void stepTo(long done) {
    if (bar != null) {
      bar.stepTo(done);
    }
  }

  /** Shows what the command does now. Callable from any thread. */
  public void describe(String activity) {
    if (bar != null) {
      bar.setExtraMessage(" " + activity);
    }
  }

  private void countTasks() {
    long tasks = 0;
    long done = 0;
    Option<SparkSession> session = SparkSession.getDefaultSession();
    if (session.isDefined() && !session.get().sparkContext().isStopped()) {
      SparkStatusTracker tracker = session.get().sparkContext().statusTracker();
      for (int stage : tracker.getActiveStageIds()) {
        Option<SparkStageInfo> info = tracker.getStageInfo(stage);
        if (info.isDefined()) {
          tasks += info.get().numTasks();
          done += info.get().numCompletedTasks();
        }
      }
    }
    bar.maxHint(tasks == 0 ? UNKNOWN : tasks);
    bar.stepTo(done);
  }

  @Override
  public void close() {
    if (bar != null) {
      if (clock != null) {
        clock.cancel();
      }
      bar.close();
    }
  }
}
