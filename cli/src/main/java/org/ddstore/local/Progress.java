// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/** A progress bar on standard error if that is a terminal, otherwise nothing. Owns the bar. */
public final class Progress implements AutoCloseable {
  private final ProgressBar bar;

  private Progress(ProgressBar bar) {
    this.bar = bar;
  }

  /**
   * Opens a progress bar.
   *
   * @param task short name of the task
   * @param steps total number of steps
   */
  public static Progress open(String task, long steps) {
    if (!isTerminal()) {
      return new Progress(null);
    }
    return new Progress(
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(steps)
            .setConsumer(new ConsoleProgressBarConsumer(System.err))
            .build());
  }

  /** Returns whether stderr is a terminal; {@code System.console()} checks other streams. */
  public static boolean isTerminal() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/2")).startsWith("/dev/pts");
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

  public void describe(String activity) {
    if (bar != null) {
      bar.setExtraMessage(activity);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
