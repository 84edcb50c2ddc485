// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.ddstore.notebook.JobProgress;
import org.ddstore.notebook.display.MimeBundle;

/**
 * A thread that sends the output of a cell, and shows the progress of its Spark jobs: a bar that
 * appears when jobs have run for half a second, changes in place, and is empty when they have
 * ended. Owned by the caller.
 */
final class ProgressBar implements AutoCloseable {
  private static final long INTERVAL_MS = 100;
  private static final long SHOWN_AFTER_NS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final MimeBundle EMPTY = MimeBundle.html("", "");

  private final CellMessages messages;
  private final Supplier<Optional<JobProgress>> progress;
  private final Thread thread = new Thread(this::run, "ddstore-progress");
  private final String id = UUID.randomUUID().toString();

  /** The last bar; null before the first one. */
  private MimeBundle shown;

  private ProgressBar(CellMessages messages, Supplier<Optional<JobProgress>> progress) {
    this.messages = messages;
    this.progress = progress;
  }

  /** Starts the thread. */
  static ProgressBar start(CellMessages messages, Supplier<Optional<JobProgress>> progress) {
    ProgressBar bar = new ProgressBar(messages, progress);
    bar.thread.setDaemon(true);
    bar.thread.start();
    return bar;
  }

  private void run() {
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(INTERVAL_MS);
        messages.sendPrinted();
        show(
            progress
                .get()
                .filter(jobs -> System.nanoTime() - jobs.startedNs() >= SHOWN_AFTER_NS)
                .map(ProgressBar::bar)
                .orElse(EMPTY));
      }
    } catch (InterruptedException e) {
      // closed
    }
  }

  private static MimeBundle bar(JobProgress jobs) {
    String text = "Spark: " + jobs.text();
    return MimeBundle.html(
        text,
        "<progress value=\"%d\" max=\"%d\"></progress> %s"
            .formatted(jobs.tasksDone(), Math.max(1, jobs.tasks()), text));
  }

  private void show(MimeBundle next) {
    if (shown == null && !next.equals(EMPTY)) {
      messages.show(id, next);
      shown = next;
    } else if (shown != null && !shown.equals(next)) {
      messages.update(id, next);
      shown = next;
    }
  }

  /** Ends the thread, empties the bar, and sends the output of the cell. Idempotent. */
  @Override
  public void close() {
    thread.interrupt();
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    show(EMPTY);
    messages.sendPrinted();
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
