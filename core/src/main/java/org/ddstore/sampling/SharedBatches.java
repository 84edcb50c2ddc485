// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** The batches of a rank when all ranks share one order and each of its global batches. */
final class SharedBatches implements EpochBatches {
  private final SampleOrder order;
  private final Batching.Cut cut;
  private final boolean strided;
  private final long batches;

  private SharedBatches(SampleOrder order, Batching.Cut cut, boolean strided, long batches) {
    this.order = order;
    this.cut = cut;
    this.strided = strided;
    this.batches = batches;
  }

  static SharedBatches of(
      Sampler sampler, long rows, Batching.Cut cut, long epoch, Distribution distribution) {
    sampler.checkBatch(cut.global());
    long samples = sampler.space().samples(rows);
    long positions = sampler.positions(samples);
    long batches = cut.batches(positions, rows);
    long dropped = cut.tail() == Tail.DROPPED ? positions - batches * cut.global() : 0;
    SampleOrder order =
        Checks.order(
            sampler, sampler.order(new Sampler.Epoch(samples, epoch, dropped, 0)), positions);
    return new SharedBatches(order, cut, distribution == Distribution.STRIDED, batches);
  }

  @Override
  public long batches() {
    return batches;
  }

  @Override
  public long globalSize(long batch) {
    return Math.min(cut.global(), order.size() - batch * cut.global());
  }

  private long paddedSize(long batch) {
    return cut.tail() == Tail.PADDED ? cut.global() : globalSize(batch);
  }

  @Override
  public int size(long batch) {
    return ownCount(paddedSize(batch));
  }

  @Override
  public int padding(long batch) {
    return cut.tail() == Tail.PADDED ? size(batch) - realSize(batch) : 0;
  }

  private int realSize(long batch) {
    long real = globalSize(batch);
    return strided
        ? ownCount(real)
        : (int) Math.max(0, Math.min(cut.end(cut.global()), real) - cut.first(cut.global()));
  }

  /** Returns how many of {@code size} samples belong to this rank. */
  private int ownCount(long size) {
    return (int)
        (strided
            ? (size - cut.rank() + cut.world() - 1) / cut.world()
            : cut.end(size) - cut.first(size));
  }

  @Override
  public long position(long batch, int i) {
    long start = batch * cut.global();
    return strided
        ? start + (long) i * cut.world() + cut.rank()
        : start + cut.first(paddedSize(batch)) + i;
  }

  @Override
  public void fill(long batch, long[] samples) {
    int size = size(batch);
    int real = size - padding(batch);
    if (strided) {
      for (int i = 0; i < real; i++) {
        samples[i] = order.at(position(batch, i));
      }
    } else if (real > 0) {
      order.fill(position(batch, 0), samples, real);
    }
    long again = real > 0 ? samples[real - 1] : real < size ? order.at(order.size() - 1) : 0;
    for (int i = real; i < size; i++) {
      samples[i] = again;
    }
  }

  @Override
  public int maxSize() {
    // Parts are rounded down: of fewer samples a rank can get one more.
    int full = ownCount(cut.global());
    return batches == 0 ? full : Math.max(full, size(batches - 1));
  }

  @Override
  public long positions() {
    return order.size();
  }

  @Override
  public SampleOrder dropped() {
    long first = Math.min(order.size(), batches * cut.global());
    return new Rest(order, first, order.size() - first);
  }

  private record Rest(SampleOrder order, long first, long size) implements SampleOrder {
    @Override
    public long at(long position) {
      return order.at(first + position);
    }
  }
}
