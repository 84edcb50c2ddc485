// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.contract.Leaks;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A rank that is interrupted anywhere between its first file and its close, as a task that Spark
 * kills: it ends with an exception of ours, or not at all, and leaves nothing.
 */
@Timeout(120)
class InterruptedRankTest {
  private static final int ROUNDS = 400;
  private static final Schema FIXED = Schema.of(Field.fixed("x", DType.INT64));
  private static final Schema RAGGED = Schema.of(Field.bytes("x"));

  private Path root;
  private Leaks leaks;

  @BeforeEach
  void createRoot() throws Exception {
    root = TestRoots.sharedMemory();
    leaks = new Leaks(root);
    live(FIXED); // loads the classes and opens what the JVM keeps
    leaks.assertNothingHeld();
  }

  @AfterEach
  void deleteRoot() throws Exception {
    TestRoots.delete(root);
  }

  @Test
  void leavesNothingAfterAnInterruptAtAnyPoint() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    long lifeNanos = lifeNanos();
    int interrupted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Schema schema = random.nextBoolean() ? FIXED : RAGGED;
      Throwable thrown = interruptAfter((long) (random.nextDouble() * lifeNanos), schema);
      assertThat(thrown)
          .as("what round %d of seed %d ended with", round, seed)
          .satisfiesAnyOf(
              none -> assertThat(none).isNull(),
              ours -> assertThat(ours).isInstanceOf(DDStoreException.class),
              file -> assertThat(file).isInstanceOf(IOException.class));
      interrupted += thrown == null ? 0 : 1;
      leaks.assertNoFiles();
    }
    leaks.assertNothingHeld();
    assertThat(interrupted).as("interrupted rounds, seed %d", seed).isPositive();
    System.out.printf("%d of %d rounds were interrupted, seed %d%n", interrupted, ROUNDS, seed);
  }

  private long lifeNanos() throws Exception {
    long start = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      live(FIXED);
    }
    return (System.nanoTime() - start) / 20;
  }

  private Throwable interruptAfter(long nanos, Schema schema) throws Exception {
    CompletableFuture<Long> started = new CompletableFuture<>();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread rank =
        new Thread(
            () -> {
              started.complete(System.nanoTime());
              try {
                live(schema);
              } catch (Exception | Error e) {
                thrown.set(e);
              }
            });
    rank.start();
    long at = started.get(30, TimeUnit.SECONDS) + nanos;
    while (System.nanoTime() < at) {
      Thread.onSpinWait();
    }
    rank.interrupt();
    rank.join(Duration.ofSeconds(30).toMillis());
    assertThat(rank.isAlive()).as("rank still runs").isFalse();
    return thrown.get();
  }

  private void live(Schema schema) throws Exception {
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    ProcessDirectory directory = ProcessDirectory.acquire(root);
    try (ShardWriter writer = ShardWriter.create(schema, options);
        LaneExchange exchange = LaneExchange.overFiles(directory);
        GroupEndpoint endpoint = GroupEndpoint.create(exchange, 0, 1)) {
      for (int i = 0; i < 1000; i++) {
        Object value = schema.isFixed() ? Long.valueOf(i) : new byte[i % 200];
        writer.append(value);
      }
      try (Communicator communicator =
              endpoint.connect(List.of(endpoint.address()), Duration.ofSeconds(30));
          DDStore store = DDStore.open(communicator, options)) {
        store.add("rows", writer);
        store.getBatch("rows", 999, 0, 500).close();
        store.epochBegin();
        store.epochEnd();
      }
    } finally {
      directory.release();
    }
  }
}
