// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class EpochsLoopTest extends OnSamples {
  private static final int EPOCHS = 3;
  private static final BatchSampler GLOBAL = Samplers.shuffled(3).globalBatchSize(60).everySample();
  private static final int BATCHES = 4; // 203 rows in batches of 60

  @TempDir Path folder;

  private Loader loader(BatchSampler sampler) {
    return Loader.open(samples.rows(), sampler, ALONE, LoaderOptions.defaults());
  }

  private static List<Long> rows(LoadedBatch batch) {
    List<Long> rows = new ArrayList<>();
    for (int i = 0; i < batch.samples(); i++) {
      rows.add(batch.row(i));
    }
    return rows;
  }

  @Test
  void iteratesOverAllEpochsAndRunsTheHooks() {
    List<String> events = new ArrayList<>();
    List<List<Long>> expected = new ArrayList<>();
    List<List<Long>> delivered = new ArrayList<>();
    try (Loader loader = loader(GLOBAL)) {
      for (int epoch = 0; epoch < EPOCHS; epoch++) {
        loader.epoch(epoch).forEach(batch -> expected.add(rows(batch)));
      }
      EpochsLoop epochs =
          loader
              .epochs(EPOCHS)
              .afterEpoch(epoch -> events.add("end of " + epoch))
              .afterEpoch(
                  epoch -> {
                    EpochState state = loader.state();
                    events.add("state %d, %d".formatted(state.epoch(), state.batch()));
                  });
      assertThat(epochs.epoch()).isZero();
      for (LoadedBatch batch : epochs) {
        delivered.add(rows(batch));
        assertThat(loader.state().batch()).isEqualTo(batch.number() + 1);
        events.add("%d: %d".formatted(epochs.epoch(), batch.number()));
      }
      assertThat(epochs).as("a second iteration").isEmpty();
      Iterator<LoadedBatch> ended = epochs.iterator();
      assertThatThrownBy(ended::next).isInstanceOf(NoSuchElementException.class);
    }
    assertThat(delivered).isEqualTo(expected);
    assertThat(events)
        .containsExactly(
            "0: 0",
            "0: 1",
            "0: 2",
            "0: 3",
            "end of 0",
            "state 1, 0",
            "1: 0",
            "1: 1",
            "1: 2",
            "1: 3",
            "end of 1",
            "state 2, 0",
            "2: 0",
            "2: 1",
            "2: 2",
            "2: 3",
            "end of 2",
            "state 3, 0");
  }

  @Test
  void aHookIsRepeatedOnlyIfItsStateWasNotTakenInIt() {
    List<EpochState> inLoop = new ArrayList<>();
    List<EpochState> inHook = new ArrayList<>();
    try (Loader loader = loader(GLOBAL)) {
      for (LoadedBatch batch : loader.epochs(1).afterEpoch(epoch -> inHook.add(loader.state()))) {
        assertThat(batch.samples()).isPositive();
        inLoop.add(loader.state());
      }
    }
    EpochState last = inLoop.get(BATCHES - 1);
    assertThat(resumed(2, last)).containsExactly("hook 0", "1", "1", "1", "1", "hook 1");
    assertThat(resumed(2, inHook.get(0))).containsExactly("1", "1", "1", "1", "hook 1");
    assertThat(resumed(1, last)).containsExactly("hook 0");
    assertThat(resumed(1, inHook.get(0))).isEmpty();
  }

  private List<String> resumed(int epochs, EpochState state) {
    List<String> events = new ArrayList<>();
    try (Loader loader = loader(GLOBAL)) {
      EpochsLoop loop =
          loader.epochs(epochs, state).afterEpoch(epoch -> events.add("hook " + epoch));
      for (LoadedBatch batch : loop) {
        assertThat(batch.samples()).isPositive();
        events.add("" + loop.epoch());
      }
    }
    return events;
  }

  @Test
  void rejectsWhatItCannotIterate() {
    try (Loader loader = loader(GLOBAL)) {
      assertThatThrownBy(() -> loader.epochs(0)).hasMessage("epochs 0 must be at least 1");
      EpochState other;
      try (Loader another = loader(Samplers.shuffled(4).globalBatchSize(60))) {
        other = another.state();
      }
      assertThatThrownBy(() -> loader.epochs(1, other)).hasMessageStartingWith("state mismatch: ");
    }
  }

  private record Trained(List<List<Long>> batches, List<String> receipts) {}

  /**
   * Trains with a checkpoint after each batch.
   *
   * @param stop number of batches after which the training stops
   */
  private List<Trained> train(int ranks, int stop) throws Exception {
    List<Communicator> group = LocalGroup.create(ranks, Duration.ofMinutes(1));
    ExecutorService threads = Executors.newFixedThreadPool(ranks);
    try {
      List<Future<Trained>> running = new ArrayList<>();
      for (Communicator communicator : group) {
        running.add(threads.submit(() -> train(communicator, stop)));
      }
      List<Trained> all = new ArrayList<>();
      for (Future<Trained> rank : running) {
        all.add(rank.get(1, TimeUnit.MINUTES));
      }
      return all;
    } finally {
      threads.shutdownNow();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
  }

  private Trained train(Communicator communicator, int stop) {
    CheckpointStorage storage = CheckpointStorage.local(folder.resolve("checkpoints"));
    WorldRank place = new WorldRank(communicator.rank(), communicator.size());
    List<List<Long>> batches = new ArrayList<>();
    List<String> receipts = new ArrayList<>();
    try (communicator;
        Checkpoints checkpoints =
            Checkpoints.open(storage, communicator, CheckpointOptions.defaults());
        Loader loader = Loader.open(samples.rows(), GLOBAL, place, LoaderOptions.defaults())) {
      Optional<Checkpoint> saved = checkpoints.latest();
      for (LoadedBatch batch :
          loader
              .epochs(EPOCHS, saved)
              .afterEpoch(epoch -> receipts.add(loader.receipt(communicator).toString()))) {
        batches.add(rows(batch));
        checkpoints.save(loader.state(), "steps", out -> out.write(batches.size()));
        if (batches.size() == stop) {
          break;
        }
      }
    }
    return new Trained(batches, receipts);
  }

  private static List<List<Long>> global(List<Trained> ranks) {
    List<List<Long>> global = new ArrayList<>();
    for (int i = 0; i < ranks.get(0).batches().size(); i++) {
      List<Long> rows = new ArrayList<>();
      for (Trained rank : ranks) {
        rows.addAll(rank.batches().get(i));
      }
      Collections.sort(rows);
      global.add(rows);
    }
    return global;
  }

  @ParameterizedTest
  @CsvSource({"1, 3, 2", "2, 1, 5", "3, 4, 1", "4, 2, 7", "2, 2, 4"})
  void resumesFromACheckpointOnAnotherNumberOfRanks(int before, int after, int stop)
      throws Exception {
    List<List<Long>> expected = new ArrayList<>();
    try (Loader loader = loader(GLOBAL)) {
      for (LoadedBatch batch : loader.epochs(EPOCHS)) {
        List<Long> rows = rows(batch);
        Collections.sort(rows);
        expected.add(rows);
      }
    }
    List<List<Long>> delivered = new ArrayList<>(global(train(before, stop)));
    List<Trained> rest = train(after, Integer.MAX_VALUE);
    delivered.addAll(global(rest));
    assertThat(delivered).isEqualTo(expected);
    for (Trained rank : rest) {
      assertThat(rank.receipts())
          .hasSize(EPOCHS - (stop - 1) / BATCHES)
          .containsOnly("203 samples, each exactly once; 203 delivered, 0 dropped, 0 padded");
    }
  }

  @Test
  void aStateOfBatchesPerRankNamesTheRemedy() {
    BatchSampler perRank = Samplers.shuffled(3).batchSize(10);
    EpochState ofTwo;
    try (Loader loader =
        Loader.open(samples.rows(), perRank, new WorldRank(0, 2), LoaderOptions.defaults())) {
      ofTwo = loader.state();
    }
    try (Loader loader = loader(perRank)) {
      assertThatThrownBy(() -> loader.epochs(EPOCHS, ofTwo))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "state mismatch: sampling is shuffled(3)/20 in the state, shuffled(3)/10 here:"
                  + " a global batch has 20 samples in the state, 10 here: use"
                  + " globalBatchSize(20), or resume a sampler with batchSize on the same number"
                  + " of ranks");
    }
    try (Loader loader = loader(Samplers.shuffled(3).globalBatchSize(20))) {
      assertThat(loader.epochs(1, ofTwo).iterator().hasNext()).isTrue();
    }
  }
}
