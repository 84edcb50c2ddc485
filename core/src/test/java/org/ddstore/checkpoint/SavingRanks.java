// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.EpochState;

/** Ranks as threads that save and load checkpoints, and contents that are known by a number. */
public final class SavingRanks {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int[] LENGTHS = {0, 1, 4096, 4097, 30_000};

  private SavingRanks() {}

  @FunctionalInterface
  public interface Work<T> {
    T run(Checkpoints checkpoints, int rank) throws Exception;
  }

  public static CheckpointOptions options() {
    return CheckpointOptions.defaults()
        .chunkSize(4096)
        .memoryLimit(16_384)
        .writers(2)
        .saveTimeout(TIMEOUT);
  }

  public static <T> List<Object> outcomes(
      int ranks, CheckpointStorage storage, CheckpointOptions options, Work<T> work)
      throws Exception {
    List<Communicator> group = LocalGroup.create(ranks, TIMEOUT);
    ExecutorService threads = Executors.newFixedThreadPool(ranks);
    List<Object> outcomes = new ArrayList<>();
    try {
      List<Future<T>> running = new ArrayList<>();
      for (Communicator communicator : group) {
        running.add(threads.submit(() -> run(communicator, storage, options, work)));
      }
      for (Future<T> rank : running) {
        try {
          outcomes.add(rank.get(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS));
        } catch (ExecutionException e) {
          outcomes.add(e.getCause());
        }
      }
    } finally {
      threads.shutdownNow();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
      group.forEach(Communicator::close);
    }
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("ddstore-checkpoint"));
    return outcomes;
  }

  private static <T> T run(
      Communicator communicator, CheckpointStorage storage, CheckpointOptions options, Work<T> work)
      throws Exception {
    try (Checkpoints checkpoints = Checkpoints.open(storage, communicator, options)) {
      return work.run(checkpoints, communicator.rank());
    } catch (Exception e) {
      communicator.abort(e);
      throw e;
    }
  }

  @SuppressWarnings("unchecked")
  public static <T> List<T> values(
      int ranks, CheckpointStorage storage, CheckpointOptions options, Work<T> work)
      throws Exception {
    List<T> values = new ArrayList<>();
    for (Object outcome : outcomes(ranks, storage, options, work)) {
      if (outcome instanceof Throwable thrown) {
        throw new AssertionError("unexpected failure of a rank", thrown);
      }
      values.add((T) outcome);
    }
    return values;
  }

  static void assertFailed(List<Object> outcomes, String... texts) {
    assertThat(outcomes)
        .allSatisfy(
            outcome ->
                assertThat(outcome)
                    .isInstanceOf(CheckpointException.class)
                    .asString()
                    .contains(texts));
  }

  static void assertNotSaved(CheckpointStorage storage, String... texts) throws Exception {
    for (SaveFailure effect : SaveFailure.values()) {
      assertFailed(
          outcomes(
              2,
              storage,
              options().onFailure(effect),
              (checkpoints, rank) -> {
                save(checkpoints, rank, 1);
                return checkpoints.lastFailure().orElseThrow();
              }),
          texts);
    }
  }

  static void assertLatest(int ranks, CheckpointStorage storage, long seed) throws Exception {
    assertThat(
            values(
                ranks,
                storage,
                options(),
                (checkpoints, rank) -> check(checkpoints.latest().orElseThrow())))
        .containsOnly(seed);
  }

  public static EpochState state(long batch) {
    return new EpochState(1, batch, 1000, 0, "shuffled(1)/10", "00000001", "", Delivery.PLAIN);
  }

  public static void save(Checkpoints checkpoints, int rank, long seed) {
    checkpoints.save(
        state(seed),
        to -> {
          for (int i = 0; i < LENGTHS.length; i++) {
            try (var out = to.writer("stream%d.rank%d".formatted(i, rank))) {
              byte[] content = content(seed, rank, i);
              int half = content.length / 2;
              for (int b = 0; b < Math.min(half, 10); b++) {
                out.write(content[b]);
              }
              int from = Math.min(half, 10);
              out.write(content, from, content.length - from);
            }
          }
        });
  }

  static byte[] content(long seed, int rank, int stream) {
    byte[] content = new byte[LENGTHS[stream]];
    new Random(seed * 1000 + rank * 10L + stream).nextBytes(content);
    return content;
  }

  public static long check(Checkpoint checkpoint) throws Exception {
    long seed = checkpoint.state().batch();
    assertThat(checkpoint.states()).hasSize(checkpoint.ranks()).containsOnly(state(seed));
    assertThat(checkpoint.streams()).hasSize(checkpoint.ranks() * LENGTHS.length);
    for (int rank = 0; rank < checkpoint.ranks(); rank++) {
      for (int i = 0; i < LENGTHS.length; i++) {
        String name = "stream%d.rank%d".formatted(i, rank);
        byte[] expected = content(seed, rank, i);
        assertThat(checkpoint.length(name)).isEqualTo(expected.length);
        assertThat(checkpoint.bytes(name)).isEqualTo(expected);
        try (var in = checkpoint.reader(name)) {
          assertThat(in.readAllBytes()).isEqualTo(expected);
        }
        checkpoint.load(
            name,
            in -> {
              assertThat(in.read()).isEqualTo(expected.length == 0 ? -1 : expected[0] & 0xFF);
            });
      }
    }
    return seed;
  }

  static CheckpointStorage local(Path directory) {
    return CheckpointStorage.local(directory);
  }
}
