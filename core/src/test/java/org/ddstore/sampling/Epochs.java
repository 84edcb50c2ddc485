// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Runs through epochs as ranks would. */
final class Epochs {
  private Epochs() {}

  static List<Long> real(EpochBatches batches, long batch) {
    return samples(batches, batch).subList(0, batches.size(batch) - batches.padding(batch));
  }

  static List<Long> samples(EpochBatches batches, long batch) {
    long[] room = new long[batches.maxSize()];
    batches.fill(batch, room);
    return LongStream.of(room).limit(batches.size(batch)).boxed().toList();
  }

  static List<Long> ofRank(BatchSampler sampler, long rows, int rank, int world, long epoch) {
    EpochBatches batches = sampler.epoch(rows, new WorldRank(rank, world), epoch);
    List<Long> all = new ArrayList<>();
    for (long batch = 0; batch < batches.batches(); batch++) {
      all.addAll(real(batches, batch));
    }
    return all;
  }

  static List<Long> ofAll(BatchSampler sampler, long rows, int world, long epoch) {
    List<EpochBatches> ranks = ranks(sampler, rows, world, epoch);
    List<Long> all = new ArrayList<>();
    for (long batch = 0; batch < ranks.get(0).batches(); batch++) {
      for (EpochBatches rank : ranks) {
        all.addAll(real(rank, batch));
      }
    }
    return all;
  }

  static List<EpochBatches> ranks(BatchSampler sampler, long rows, int world, long epoch) {
    List<EpochBatches> ranks = new ArrayList<>();
    for (int rank = 0; rank < world; rank++) {
      ranks.add(sampler.epoch(rows, new WorldRank(rank, world), epoch));
    }
    return ranks;
  }

  static List<Long> order(Sampler sampler, long samples, long epoch) {
    SampleOrder order = sampler.order(Sampler.Epoch.of(samples, epoch));
    return LongStream.range(0, order.size()).map(order::at).boxed().toList();
  }

  static List<Long> upTo(long end) {
    return LongStream.range(0, end).boxed().toList();
  }

  /** Returns the samples of each global batch, without padding, in ascending order. */
  static List<List<Long>> byBatch(BatchSampler sampler, long rows, int world, long epoch) {
    List<EpochBatches> ranks = ranks(sampler, rows, world, epoch);
    List<List<Long>> batches = new ArrayList<>();
    for (long batch = 0; batch < ranks.get(0).batches(); batch++) {
      List<Long> samples = new ArrayList<>();
      for (EpochBatches rank : ranks) {
        samples.addAll(real(rank, batch));
      }
      samples.sort(null);
      batches.add(samples);
    }
    return batches;
  }
}
