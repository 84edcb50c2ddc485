// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.PoolStarvedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors, interrupts and the close: each comes out where it belongs, and nothing is left. */
@Timeout(120)
class PipelineEndTest extends OnSamples {
  @Test
  void wrapsAnUndeclaredCheckedExceptionOfATransform() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .transform(batch -> PipelineEndTest.<RuntimeException>sneak(new IOException("broke")));
    try (Loader loader = open(options)) {
      EpochLoop loop = loader.epoch(0);
      assertThatThrownBy(loop::next)
          .isInstanceOf(DDStoreException.class)
          .hasRootCauseMessage("broke");
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> void sneak(Exception e) throws E {
    throw (E) e;
  }

  @Test
  void repeatsASourceErrorInPlaceOfItsBatch() {
    IllegalStateException broken = new IllegalStateException("the source broke");
    Iterator<Long> breaking =
        LongStream.range(0, 100)
            .peek(
                i -> {
                  if (i == 25) {
                    throw broken;
                  }
                })
            .boxed()
            .iterator();
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(breaking, 10);
      loader.pop(PATIENCE).close();
      loader.pop(PATIENCE).close();
      assertStays(loader, broken);
    }
  }

  private static void assertStays(Loader loader, Throwable error) {
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> loader.pop(PATIENCE)).isSameAs(error);
      assertThatThrownBy(() -> loader.epoch(0)).isSameAs(error);
      assertThatThrownBy(() -> loader.push(List.of(1L).iterator(), 1)).isSameAs(error);
    }
    assertThat(loader.pending()).isZero();
  }

  @Test
  void repeatsAReadErrorInPlaceOfItsBatch() {
    try (Loader loader = open(LoaderOptions.defaults().workers(3))) {
      loader.push(LongStream.range(Samples.ROWS - 20, Samples.ROWS + 80).boxed().iterator(), 10);
      loader.pop(PATIENCE).close();
      loader.pop(PATIENCE).close();
      Throwable[] first = new Throwable[1];
      assertThatThrownBy(() -> loader.pop(PATIENCE))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("row 203 (number 0 of the batch) outside [0, 203) of \"rows\"")
          .satisfies(thrown -> first[0] = thrown);
      assertStays(loader, first[0]);
    }
  }

  @Test
  void repeatsATransformErrorInPlaceOfItsBatch() {
    AssertionError broken = new AssertionError("the transform broke");
    LoaderOptions options =
        LoaderOptions.defaults()
            .transform(
                batch -> {
                  if (batch.number() == 2) {
                    throw broken;
                  }
                });
    try (Loader loader = open(options)) {
      EpochLoop loop = loader.epoch(0);
      loop.next();
      loop.next();
      assertThatThrownBy(loop::next).isSameAs(broken);
      assertStays(loader, broken);
    }
  }

  @Test
  void closeInMidEpochEndsWaitingThreads() {
    CountDownLatch never = new CountDownLatch(1);
    AtomicLong made = new AtomicLong();
    LoaderOptions blocked =
        LoaderOptions.defaults()
            .transform(
                batch -> {
                  if (made.getAndIncrement() > 0) { // the first batch is alone
                    awaitLatch(never);
                  }
                });
    try (Loader loader = open(blocked)) {
      loader.epoch(0);
      awaitTrue(() -> loader.pending() >= 3); // one is made, one is read, others keep it busy
    }
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(blocking(never), 1);
    }
    for (int popped = 0; popped < 8; popped++) {
      try (Loader loader = open(LoaderOptions.defaults().workers(2))) {
        EpochLoop loop = loader.epoch(0);
        for (int i = 0; i < popped; i++) {
          loop.next();
        }
      }
    }
  }

  @Test
  void closeNamesARunningTransformThatFreesItsBatchLater() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    Thread[] worker = new Thread[1];
    LoaderOptions options =
        LoaderOptions.defaults()
            .workers(1)
            .closeTimeout(Duration.ofMillis(20))
            .transform(
                batch -> {
                  worker[0] = Thread.currentThread();
                  begun.countDown();
                  while (goOn.getCount() > 0) {
                    Thread.onSpinWait(); // deaf to interrupts
                  }
                });
    try {
      Loader loader = open(options);
      loader.epoch(0);
      begun.await();
      assertThatThrownBy(loader::close)
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageStartingWith(
              "thread ddstore-loader-read-0 still runs PT0.02S after the close of its loader: thread"
                  + " \"ddstore-loader-read-0\" has been in the transform "
                  + getClass().getName())
          .hasMessageEndingWith("; it frees its batch when it ends")
          .cause()
          .satisfies(PipelineEndTest::assertStandsHere);
    } finally {
      goOn.countDown();
    }
    worker[0].join(PATIENCE.toMillis());
    assertThat(worker[0].isAlive()).isFalse();
  }

  private static void assertStandsHere(Throwable stack) {
    assertThat(stack.getStackTrace())
        .as("where the user's code stands")
        .anyMatch(frame -> frame.getClassName().startsWith(PipelineEndTest.class.getName()));
  }

  private static Iterator<Long> deaf(CountDownLatch begun, CountDownLatch goOn) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public Long next() {
        begun.countDown();
        while (goOn.getCount() > 0) {
          Thread.onSpinWait();
        }
        return 0L;
      }
    };
  }

  @Test
  void iteratorThatIgnoresInterruptsDelaysNoEpochOrClose() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    Loader loader = open(LoaderOptions.defaults().closeTimeout(Duration.ofDays(1)));
    try {
      loader.push(deaf(begun, goOn), 1);
      begun.await();
      for (int epoch = 0; epoch < 2; epoch++) {
        long number = 0;
        for (LoadedBatch batch : loader.epoch(epoch)) {
          assertThat(batch.number()).isEqualTo(number++);
        }
        assertThat(number).isPositive();
      }
      assertThatThrownBy(loader::close)
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining(
              "thread ddstore-loader-plan still runs PT1S after the close of its loader")
          .hasMessageContaining("has been in the iterator " + PipelineEndTest.class.getName())
          .cause()
          .satisfies(PipelineEndTest::assertStandsHere);
    } finally {
      goOn.countDown();
      loader.close(); // the second call does nothing
    }
    awaitTrue(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("ddstore-loader")));
  }

  @Test
  void starvedPopNamesTheRunningCodeWithItsStack() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    Duration wait = Duration.ofMillis(1200);
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(deaf(begun, goOn), 1);
      begun.await();
      assertThatThrownBy(() -> loader.pop(wait))
          .isInstanceOf(PoolStarvedException.class)
          .hasMessageContaining("no batch within PT1.2S")
          .hasMessageContaining("thread \"ddstore-loader-plan\" has been in the iterator ")
          .cause()
          .satisfies(PipelineEndTest::assertStandsHere);
      goOn.countDown();
    }
    LoaderOptions slow =
        LoaderOptions.defaults().workers(1).transform(batch -> awaitLatch(new CountDownLatch(1)));
    try (Loader loader = open(slow)) {
      loader.epoch(0);
      assertThatThrownBy(() -> loader.pop(wait))
          .isInstanceOf(PoolStarvedException.class)
          .hasMessageContaining("thread \"ddstore-loader-read-0\" has been in the transform ")
          .cause()
          .satisfies(PipelineEndTest::assertStandsHere);
    }
  }

  @Test
  void userCodeCannotCloseItsLoader() {
    AtomicReference<Loader> own = new AtomicReference<>();
    LoaderOptions closing = LoaderOptions.defaults().transform(batch -> own.get().close());
    try (Loader loader = open(closing)) {
      own.set(loader);
      loader.epoch(0);
      assertThatThrownBy(() -> loader.pop(PATIENCE))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith(
              "a transform, an iterator or a sampler cannot close the loader that runs it");
      assertThat(loader.isClosed()).isFalse();
    }
    try (Loader loader = open(LoaderOptions.defaults())) {
      own.set(loader);
      loader.push(
          LongStream.generate(
                  () -> {
                    own.get().close();
                    return 0;
                  })
              .boxed()
              .iterator(),
          1);
      assertThatThrownBy(() -> loader.pop(PATIENCE))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("cannot close the loader that runs it");
    }
  }

  @Test
  void interruptedPopThrowsAndCloseKeepsTheInterrupt() {
    try (Loader loader = open(LoaderOptions.defaults())) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> loader.pop(PATIENCE))
          .isInstanceOf(DDStoreException.class)
          .hasMessage("interrupted while waiting for a batch");
      assertThat(Thread.interrupted()).isTrue();
      Thread.currentThread().interrupt();
    }
    assertThat(Thread.interrupted()).as("the close keeps the interrupt").isTrue();
  }

  @Test
  void failsWithoutLeaksIfItsStoreClosesFirst() {
    try (Loader loader = open(LoaderOptions.defaults())) {
      EpochLoop loop = loader.epoch(0);
      loop.next();
      samples.store().close();
      assertThatThrownBy(() -> loop.forEach(batch -> {}))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: ");
    }
  }

  /** Consumers that hold, close, reset, push, starve and end at random: order and memory hold. */
  @Test
  void randomConsumersLoseNoBatchAndLeakNothing() {
    long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
    System.out.println("randomConsumersLoseNoBatchAndLeakNothing: -Dddstore.test.seed=" + seed);
    Random random = new Random(seed);
    for (int life = 0; life < 60; life++) {
      LoaderOptions options =
          LoaderOptions.defaults()
              .depth(1 + random.nextInt(5))
              .workers(1 + random.nextInt(4))
              .maxBytes(random.nextBoolean() ? 90_000 : 1 << 30);
      List<LoadedBatch> held = new ArrayList<>();
      try (Loader loader = open(options)) {
        for (int turn = 0; turn < 1 + random.nextInt(5); turn++) {
          long next = 0;
          EpochLoop loop = loader.epoch(turn);
          for (int step = random.nextInt(25); step > 0 && loop.remaining() > 0; step--) {
            try (LoadedBatch batch = loader.pop(held.isEmpty() ? PATIENCE : AT_ONCE)) {
              assertThat(batch.number()).isEqualTo(next++);
              assertThat(batch.epoch()).isEqualTo(turn);
              assertThat(batch.field("id").getLong(9)).isEqualTo(batch.row(9));
              if (random.nextInt(8) == 0) {
                held.add(popOrNull(loader));
                next += held.get(held.size() - 1) == null ? 0 : 1;
                held.removeIf(none -> none == null);
              }
            } catch (PoolStarvedException e) {
              held.forEach(LoadedBatch::close);
              held.clear();
            }
          }
        }
      }
      held.forEach(LoadedBatch::close);
    }
  }

  private static LoadedBatch popOrNull(Loader loader) {
    try {
      return loader.state().batch() < 20 ? loader.pop(AT_ONCE) : null;
    } catch (PoolStarvedException e) {
      return null;
    }
  }
}
