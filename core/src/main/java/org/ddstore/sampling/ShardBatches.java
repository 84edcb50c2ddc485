// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;

/**
 * The batches of a rank that has its own part of the samples. With equal batches the parts are
 * contiguous without the dropped samples, and all parts move by the number of dropped samples in
 * each epoch.
 */
final class ShardBatches implements EpochBatches {
  private final SampleOrder order;
  private final Batching.Cut cut;
  private final long samples;
  private final long first;
  private final long drift;
  private final long batches;

  private ShardBatches(
      SampleOrder order, Batching.Cut cut, long samples, long first, long drift, long batches) {
    this.order = order;
    this.cut = cut;
    this.samples = samples;
    this.first = first;
    this.drift = drift;
    this.batches = batches;
  }

  static ShardBatches of(Sampler sampler, long rows, Batching.Cut cut, long epoch) {
    long samples = sampler.space().samples(rows);
    checkDivisible(sampler, samples, cut);
    int batch = cut.global() / cut.world();
    sampler.checkBatch(batch);
    long batches = cut.batches(samples, rows);
    boolean drops = cut.tail() == Tail.DROPPED;
    long read = drops ? batches * cut.global() : samples;
    long first = cut.first(read);
    Sampler.Epoch all = new Sampler.Epoch(samples, epoch, samples - read, 0);
    Sampler.Epoch part = new Sampler.Epoch(cut.end(read) - first, epoch, 0, cut.rank());
    SampleOrder order = Checks.order(sampler, sampler.order(part), part.samples());
    return new ShardBatches(order, cut, samples, first, all.drift(), batches);
  }

  private static void checkDivisible(Sampler sampler, long samples, Batching.Cut cut) {
    if (sampler.positions(samples) != samples || sampler.positions(0) != 0) {
      throw new IllegalArgumentException(
          "sampler %s draws from all samples and cannot order a part of them: use Distribution.SLICES or STRIDED"
              .formatted(sampler.describe()));
    }
    if (cut.global() % cut.world() != 0) {
      throw new IllegalArgumentException(
          "a global batch of %,d does not divide into %d contiguous parts: use a multiple of %d"
              .formatted(cut.global(), cut.world(), cut.world()));
    }
  }

  @Override
  public long batches() {
    return batches;
  }

  @Override
  public int maxSize() {
    return cut.global() / cut.world();
  }

  @Override
  public int size(long batch) {
    return cut.tail() == Tail.PADDED ? maxSize() : realSize(order.size(), batch);
  }

  @Override
  public int padding(long batch) {
    return size(batch) - realSize(order.size(), batch);
  }

  private int realSize(long part, long batch) {
    return (int) Math.max(0, Math.min(maxSize(), part - batch * maxSize()));
  }

  @Override
  public long globalSize(long batch) {
    // Part lengths differ by one at most; the remainder is the number of longer parts.
    long read = cut.tail() == Tail.DROPPED ? batches * cut.global() : samples;
    long part = read / cut.world();
    long longer = read % cut.world();
    return longer * realSize(part + 1, batch) + (cut.world() - longer) * realSize(part, batch);
  }

  @Override
  public long position(long batch, int i) {
    long place = batch * maxSize() + i;
    return place < order.size() ? first + place : samples + cut.rank() * (long) maxSize() + i;
  }

  @Override
  public void fill(long batch, long[] chosen) {
    int size = size(batch);
    int real = size - padding(batch);
    order.fill(batch * maxSize(), chosen, real);
    for (int i = 0; i < real; i++) {
      chosen[i] = sampleAt(first + chosen[i]);
    }
    Arrays.fill(chosen, real, size, real > 0 ? chosen[real - 1] : 0);
  }

  private long sampleAt(long place) {
    long sample = place + drift;
    return sample >= samples ? sample - samples : sample;
  }

  @Override
  public long positions() {
    return samples;
  }

  @Override
  public SampleOrder dropped() {
    long read = cut.tail() == Tail.DROPPED ? batches * cut.global() : samples;
    return new SampleOrder() {
      @Override
      public long size() {
        return samples - read;
      }

      @Override
      public long at(long position) {
        return sampleAt(read + position);
      }
    };
  }
}
