// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.Test;

/**
 * The orders, descriptions, states and receipts of all samplers that C has too, in a text that a C
 * test reads. They must never change, because saved states depend on them. With {@code
 * -Dddstore.goldens=write} the text is written anew.
 */
class SamplerGoldensTest {
  private static final Path FILE =
      Path.of(System.getProperty("ddstore.root"))
          .resolve("core/src/test/resources/org/ddstore/sampling/goldens.txt");

  private static final long START = 0xcbf29ce484222325L;

  /**
   * Number of ranks whose states are in the file, with the numbers of ranks that can resume them;
   * receipts are there for the others.
   */
  private static final int STATED = 3;

  private static final int MOST_BATCHES = 20;
  private static final long MOST_SUMMED = 1_000_000;

  private final StringBuilder text = new StringBuilder();

  @SuppressWarnings("AnnotateFormatMethod")
  private void line(String format, Object... values) {
    text.append(format.formatted(values)).append('\n');
  }

  /** Returns numbers in [0, bound) of a linear congruential generator. */
  private static int[] numbers(int count, int bound) {
    int[] numbers = new int[count];
    long x = 1;
    for (int i = 0; i < count; i++) {
      x = x * 6364136223846793005L + 1442695040888963407L;
      numbers[i] = (int) ((x >>> 33) % bound);
    }
    return numbers;
  }

  private static double[] weights(int count, int bound, int scale) {
    int[] numbers = numbers(count, bound);
    double[] weights = new double[count];
    Arrays.setAll(weights, i -> Math.scalb((double) numbers[i], (i % 7 - 3) * scale));
    return weights;
  }

  private static long hash(long hash, long... values) {
    for (long value : values) {
      for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
        hash = (hash ^ (value >>> shift & 0xff)) * 0x100000001b3L;
      }
    }
    return hash;
  }

  /** A sampler by the words that describe it in the file. */
  private record Named(String words, Sampler sampler) {
    Named within(long... bounds) {
      String ranges =
          LongStream.of(bounds).mapToObj(Long::toString).collect(Collectors.joining(" "));
      return new Named(
          "%s%nwithin %d %s".formatted(words, bounds.length / 2, ranges).replace("\r", ""),
          sampler.within(RowSubset.ranges(bounds)));
    }

    Named withinEvery(int runs, long step, long length) {
      long[] bounds = new long[2 * runs];
      Arrays.setAll(bounds, i -> i / 2 * step + i % 2 * length);
      return new Named(
          words + "\nevery %d %d %d".formatted(runs, step, length),
          sampler.within(RowSubset.ranges(bounds)));
    }
  }

  private static Named sequential() {
    return new Named("sequential", Samplers.sequential());
  }

  private static Named shuffled(long seed) {
    return new Named("shuffled " + seed, Samplers.shuffled(seed));
  }

  private static Named chunked(long seed, int blockRows, int windowBlocks) {
    return new Named(
        "chunked %d %d %d".formatted(seed, blockRows, windowBlocks),
        Samplers.chunked(seed, blockRows, windowBlocks));
  }

  private static Named weighted(
      long seed, int draws, boolean again, int rows, int bound, int scale) {
    double[] weights = weights(rows, bound, scale);
    return new Named(
        "weighted %d %d %d %d %d %d".formatted(seed, draws, again ? 1 : 0, rows, bound, scale),
        again
            ? Samplers.weighted(seed, draws, weights)
            : Samplers.weightedWithoutReplacement(seed, draws, weights));
  }

  private static Named classes(
      long seed, int draws, int blockRows, int rows, int bound, int labelStep, double... weights) {
    int[] labels = Arrays.stream(numbers(rows, bound)).map(label -> label * labelStep).toArray();
    ClassBalancedSampler sampler = Samplers.classBalanced(seed, labels).blockRows(blockRows);
    sampler = weights.length == 0 ? sampler : sampler.weights(weights);
    String shares = Arrays.stream(weights).mapToObj(w -> " " + w).collect(Collectors.joining());
    return new Named(
        "classes %d %d %d %d %d %d %d%s"
            .formatted(seed, draws, blockRows, rows, bound, labelStep, weights.length, shares),
        draws < 0 ? sampler : sampler.withReplacement(draws));
  }

  private static Batching batching(
      Sampler sampler, int batch, int global, Distribution distribution, Tail tail) {
    Batching batching =
        (global == 0 ? sampler.batchSize(batch) : sampler.globalBatchSize(global))
            .distribution(distribution);
    return tail == Tail.KEPT
        ? batching.everySample()
        : tail == Tail.PADDED ? batching.evaluation() : batching;
  }

  private void sampler(Named named, long rows, long... epochs) {
    line("sampler %s", named.words());
    int number = 0;
    for (long epoch : epochs) {
      for (int world : new int[] {1, 3, 8}) {
        Distribution distribution = List.of(Distribution.values()).get(number % 2);
        Tail tail = List.of(Tail.values()).get(number % 3);
        epoch(named, rows, world, 0, 24, distribution, tail, epoch);
        number++;
      }
    }
  }

  private void epoch(
      Named named,
      long rows,
      int world,
      int batch,
      int global,
      Distribution distribution,
      Tail tail,
      long epoch) {
    Batching batching = batching(named.sampler(), batch, global, distribution, tail);
    line(
        "epoch %d %d %d %d %d %d %d",
        rows,
        world,
        batch,
        global,
        List.of(Distribution.values()).indexOf(distribution),
        List.of(Tail.values()).indexOf(tail),
        epoch);
    SampleSpace space = batching.space();
    long samples = space.samples(rows);
    line("text %s", batching.describe(world));
    Coverage total = new Coverage(samples, epoch);
    long hash = START;
    for (int rank = 0; rank < world; rank++) {
      EpochBatches batches = batching.epoch(rows, new WorldRank(rank, world), epoch);
      long[] numbers = new long[batches.maxSize()];
      long[] chosen = new long[batches.maxSize()];
      hash = hash(hash, batches.batches(), batches.maxSize(), batches.positions());
      for (long i = 0; i < MOST_BATCHES && i < batches.batches(); i++) {
        long place = batches.batches() <= MOST_BATCHES ? i : batches.batches() / MOST_BATCHES * i;
        long number = batches.batches() - 1 - place;
        batches.fill(number, numbers);
        int size = batches.size(number);
        space.allRows(numbers, size, chosen);
        hash = hash(hash, size, batches.padding(number), batches.globalSize(number));
        hash = hash(hash, Arrays.copyOf(numbers, size));
        hash = hash(hash, Arrays.copyOf(chosen, size));
        if (rank == world - 1 && i == 0 && size <= 8) {
          line(
              "last%s",
              Arrays.stream(chosen, 0, size)
                  .mapToObj(row -> " " + row)
                  .collect(Collectors.joining()));
        }
      }
      if (samples <= MOST_SUMMED && batches.positions() <= MOST_SUMMED) {
        sum(total, samples, epoch, batches, new WorldRank(rank, world));
      }
    }
    line("ranks %016x", hash);
    if (samples <= MOST_SUMMED) {
      line("sums %016x", hash(START, total.sums()));
      if (world != STATED) {
        line("receipt %s", total.receipt());
      }
    }
    if (world == STATED) {
      state(batching, rows, world, epoch);
    }
  }

  private void state(Batching batching, long rows, int world, long epoch) {
    Delivery delivery =
        epoch % 2 == 0
            ? Delivery.PLAIN
            : Delivery.of(List.of("x", "\ud83d\ude00", "\uffee"), List.of(), List.of("pad"));
    IntFunction<EpochState> at =
        ranks ->
            new EpochState(
                epoch,
                1,
                rows,
                epoch % 3,
                batching.describe(ranks),
                "1f3a9c04",
                epoch % 4 == 0 ? "" : "0123456789abcdeffedc",
                delivery);
    EpochState state = at.apply(world);
    line("state %s", state.toJson());
    line(
        "worlds%s",
        IntStream.of(1, 2, 6)
            .filter(ranks -> isResumed(state.toJson(), at.apply(ranks)))
            .mapToObj(ranks -> " " + ranks)
            .collect(Collectors.joining()));
  }

  private static boolean isResumed(String json, EpochState here) {
    try {
      EpochState.parse(json).checkSame(here);
      return true;
    } catch (RejectedArgumentException e) {
      return false;
    }
  }

  private static void sum(
      Coverage total, long samples, long epoch, EpochBatches batches, WorldRank place) {
    Coverage coverage = new Coverage(samples, epoch);
    long[] numbers = new long[batches.maxSize()];
    for (long batch = 0; batch < batches.batches(); batch++) {
      batches.fill(batch, numbers);
      int padding = batches.padding(batch);
      coverage.deliver(numbers, batches.size(batch) - padding, padding);
    }
    coverage.drop(batches.dropped(), place);
    coverage.expectAll(place);
    for (int i = 0; i < total.sums().length; i++) {
      total.sums()[i] += coverage.sums()[i];
    }
  }

  private void all() {
    for (Named named : List.of(sequential(), shuffled(42), shuffled(-7), chunked(5, 16, 3))) {
      for (long rows : new long[] {24, 25, 1024, 65_537, 1_000_000, 1_000_000_000_000L}) {
        sampler(named, rows, rows < 2000 ? new long[] {0, 3} : new long[] {1000, 1_000_001});
      }
    }
    for (Named named : List.of(sequential(), shuffled(Long.MIN_VALUE), chunked(1, 2, 6))) {
      line("sampler %s", named.words());
      for (long rows : new long[] {0, 1, 2, 3, 7, 100}) {
        for (Tail tail : List.of(Tail.KEPT, Tail.PADDED)) {
          epoch(named, rows, 3, 0, 6, Distribution.CONTIGUOUS, tail, 3);
          epoch(named, rows, 1, 4, 0, Distribution.SLICES, tail, 2);
        }
      }
      epoch(named, 100_000, 8, 4, 0, Distribution.CONTIGUOUS, Tail.DROPPED, 7);
      epoch(named, 13, 1, 0, 12, Distribution.SLICES, Tail.DROPPED, 3);
    }
    line("sampler %s", chunked(3, 1024, 128).words());
    epoch(chunked(3, 1024, 128), 1_000_000_001, 8, 64, 0, Distribution.SLICES, Tail.DROPPED, 9);
    sampler(shuffled(9).within(10, 900), 1000, 3);
    sampler(
        shuffled(9).within(0, 1, 5, 6, 7, 500, 700_000_000_000L, 900_000_000_000L), 1L << 40, 3);
    sampler(shuffled(9).within(10, 900).within(100, 300, 800, 1000), 1000, 2, 3);
    sampler(sequential().withinEvery(5000, 3, 2), 20_000, 2);
    sampler(chunked(9, 8, 6).withinEvery(5000, 1000, 2), 5_000_000, 3);
    sampler(weighted(42, 100, true, 200, 9, 0), 200, 0, 3);
    sampler(weighted(42, 100, false, 200, 9, 0), 200, 0, 3);
    sampler(weighted(-1, 100, true, 1000, 5, 100), 1000, 3);
    sampler(weighted(-1, 700, false, 1000, 5, 335), 1000, 3);
    // One rank: each would sort all weights, and the other samplers show how ranks share an order.
    Named large = weighted(-1, 500_000, false, 1_000_000, 1000, 1);
    line("sampler %s", large.words());
    epoch(large, 1_000_000, 1, 0, 24, Distribution.SLICES, Tail.DROPPED, 3);
    sampler(weighted(7, 50, false, 1000, 5, 0).withinEvery(100, 7, 3), 1000, 3);
    sampler(classes(42, -1, 1, 200, 4, 1), 200, 0, 3);
    sampler(classes(42, -1, 2, 300, 4, 2, 1, 0, 2.5, 0, 0, 0, 1.25), 300, 3, 4);
    sampler(classes(42, 100, 3, 300, 4, 2), 300, 3);
    sampler(classes(1, -1, 4, 1_000_000, 10, 1), 1_000_000, 5);
    sampler(classes(-3, -1, 1, 1000, 3, 1).withinEvery(100, 7, 3), 1000, 1L << 40);
  }

  @Test
  void fileHasAllValues() throws IOException {
    all();
    if ("write".equals(System.getProperty("ddstore.goldens"))) {
      Files.createDirectories(FILE.getParent());
      Files.writeString(FILE, text, UTF_8);
    }
    assertThat(text.toString()).isEqualTo(Files.readString(FILE, UTF_8));
  }
}
