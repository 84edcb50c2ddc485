// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.types.DeadlineExceededException;

/** A thread that reads rows of one rank again and again, and checks them, until a read fails. */
final class Reading {
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Duration SOON = Duration.ofMillis(5);

  private static final int ROWS_PER_BATCH = 64;
  private static final int MOST_SECONDS = 30;

  private final AtomicLong batches = new AtomicLong();
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final Thread thread;

  /** Returns when it has read something. */
  Reading(Variable variable, int rank) {
    thread = new Thread(() -> read(variable, rank), "reading");
    thread.start();
    awaitMore();
  }

  private void read(Variable variable, int rank) {
    try (Reader reader = variable.reader()) {
      while (true) {
        NumberedRows.check(
            reader, NumberedRows.some(rank, ROWS_PER_BATCH, batches.incrementAndGet()));
      }
    } catch (Throwable e) {
      failure.complete(e);
    }
  }

  Thread thread() {
    return thread;
  }

  /** Returns when it has read some more. */
  void awaitMore() {
    long goal = batches.get() + 3;
    await("reads")
        .pollInterval(SOON)
        .atMost(PATIENCE)
        .until(() -> batches.get() >= goal || failure.isDone());
  }

  /** Waits for the read that fails, which it has to do in half a minute. */
  Throwable awaitFailure() throws InterruptedException {
    Throwable e = failure.orTimeout(MOST_SECONDS, TimeUnit.SECONDS).join();
    thread.join();
    return e;
  }

  /** Reads until it succeeds; deadlines may be missed until then. */
  static void awaitSuccess(Variable variable, int rank) {
    try (Reader reader = variable.reader()) {
      await("reads that succeed")
          .pollInterval(SOON)
          .atMost(PATIENCE)
          .ignoreException(DeadlineExceededException.class)
          .until(
              () -> {
                NumberedRows.check(reader, NumberedRows.some(rank, ROWS_PER_BATCH, 1));
                return true;
              });
    }
  }
}
