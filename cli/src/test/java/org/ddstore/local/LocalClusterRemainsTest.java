// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class LocalClusterRemainsTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @TempDir Path work;

  /** A worker that is told to stop while it starts an executor ends it when it has come to life. */
  @Test
  void waitsForALateExecutor() throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    AtomicReference<Process> executor = new AtomicReference<>();
    Thread runner =
        new Thread(
            () -> {
              try {
                start.await();
                executor.set(new ProcessBuilder("sleep", "3600").start());
                executor.get().destroy();
                executor.get().waitFor();
              } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
              }
            },
            "ExecutorRunner for app-1/0");
    LocalClusterRemains remains = LocalClusterRemains.prepare(work);
    runner.start();
    Thread close = new Thread(remains::close, "close");

    close.start();
    await("close waits or has ended")
        .atMost(PATIENCE)
        .until(() -> close.getState() == Thread.State.TIMED_WAITING || !close.isAlive());
    boolean waits = close.isAlive();
    start.countDown();
    close.join();

    assertThat(waits).as("close waits for the thread of the worker").isTrue();
    assertThat(executor.get().isAlive()).as("executor lives").isFalse();
    assertThat(remains.scratch()).doesNotExist();
  }
}
