package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/** A progress bar on standard error, if that is a terminal; else nothing. Owns the bar. */
final class Progress implements AutoCloseable {
  private final ProgressBar bar;

  private Progress(ProgressBar bar) {
    this.bar = bar;
  }

  /**
   * Shows a bar.
   *
   * @param task what is done, a word or two
   * @param steps the number of steps until the end
   */
  static Progress open(String task, long steps) {
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

  /** {@code System.console()} looks at other streams, and since JDK 22 is never null. */
  static boolean isTerminal() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/2")).startsWith("/dev/pts");
    } catch (IOException e) {
      return false;
    }
  }

  /** Says how many steps are done by now. Any thread. */
  void stepTo(long done) {
    if (bar != null) {
      bar.stepTo(done);
    }
  }

  /** Says what is being done now, behind the bar. */
  void describe(String what) {
    if (bar != null) {
      bar.setExtraMessage(what);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
