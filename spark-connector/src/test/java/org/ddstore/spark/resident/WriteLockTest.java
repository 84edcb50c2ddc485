// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.DeadlineExceededException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writers of one store. */
@Timeout(60)
class WriteLockTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final WriteLock lock = new WriteLock("train");

  @Test
  void isReentrant() {
    assertThat(lock.<String>hold(LONG, () -> lock.hold(Duration.ofMillis(1), () -> "inner")))
        .isEqualTo("inner");
  }

  @Test
  void waitEndsAtItsDeadline() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    CompletableFuture<Boolean> first =
        CompletableFuture.supplyAsync(
            () ->
                lock.hold(
                    LONG,
                    () -> {
                      inside.countDown();
                      try {
                        return gate.await(1, TimeUnit.MINUTES);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
    try {
      assertThat(inside.await(1, TimeUnit.MINUTES)).isTrue();
      assertThatThrownBy(() -> lock.hold(Duration.ofMillis(1), () -> "later"))
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("store \"train\" is being written by thread \"")
          .hasMessageContaining("raise spark.ddstore.writeTimeout");
    } finally {
      gate.countDown();
    }
    assertThat(first.get(1, TimeUnit.MINUTES)).isTrue();
    assertThat(lock.<String>hold(LONG, () -> "later")).isEqualTo("later");
  }

  @Test
  void failureReleasesTheLock() {
    assertThatThrownBy(
            () ->
                lock.hold(
                    LONG,
                    () -> {
                      throw new IllegalStateException("load");
                    }))
        .hasMessage("load");
    assertThat(CompletableFuture.supplyAsync(() -> lock.hold(LONG, () -> "next")))
        .succeedsWithin(LONG)
        .isEqualTo("next");
  }
}
