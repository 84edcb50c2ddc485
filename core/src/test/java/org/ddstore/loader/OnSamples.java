// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Rows, and loaders of them that leave nothing. */
abstract class OnSamples {
  static final WorldRank ALONE = new WorldRank(0, 1);
  static final BatchSampler SAMPLER = Samplers.shuffled(3).batchSize(10);
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final Duration AT_ONCE = Duration.ofMillis(1);

  Samples samples;

  @BeforeEach
  void open() {
    samples = new Samples();
  }

  @AfterEach
  void close() throws Exception {
    samples.close();
  }

  final Loader open(LoaderOptions options) {
    return Loader.open(samples.rows(), SAMPLER, () -> ALONE, options);
  }

  static Iterator<Long> endless(AtomicLong pulled) {
    return LongStream.generate(() -> pulled.getAndIncrement() % Samples.ROWS).boxed().iterator();
  }

  static void awaitTrue(Callable<Boolean> condition) {
    await().pollInterval(Duration.ofMillis(1)).atMost(PATIENCE).until(condition);
  }

  static Iterator<Long> blocking(CountDownLatch until) {
    return LongStream.generate(
            () -> {
              awaitLatch(until);
              return 7;
            })
        .boxed()
        .iterator();
  }

  static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new DDStoreException("interrupted", e);
    }
  }
}
