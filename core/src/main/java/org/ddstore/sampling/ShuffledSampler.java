// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A sampler of all samples in a random order for each epoch. The order depends only on seed, epoch
 * and number of samples, not on ranks or batches.
 *
 * <p>Epochs form pairs. The odd epoch begins with the samples of the second half of the even epoch
 * before it, and both halves are shuffled again. A dropped end is always shorter than half, so one
 * epoch of a pair reads what the other drops: no row is starved, whatever the batch size.
 */
final class ShuffledSampler implements Sampler {
  private final long seed;

  ShuffledSampler(long seed) {
    this.seed = seed;
  }

  @Override
  public String describe() {
    return "shuffled(%d)".formatted(seed);
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    long size = epoch.samples();
    long pair = epoch.number() >> 1;
    Permutation even = Permutation.keyed(size, KeyedHash.key(seed, pair, epoch.part(), 0));
    if ((epoch.number() & 1) == 0) {
      return new Even(even);
    }
    long half = size - size / 2;
    return new Odd(
        even,
        Permutation.keyed(half, KeyedHash.key(seed, pair, epoch.part(), 1)),
        Permutation.keyed(size - half, KeyedHash.key(seed, pair, epoch.part(), 2)));
  }

  private record Even(Permutation permutation) implements SampleOrder {
    @Override
    public long size() {
      return permutation.size();
    }

    @Override
    public long at(long position) {
      return permutation.at(position);
    }

    @Override
    public void fill(long first, long[] samples, int count) {
      for (int i = 0; i < count; i++) {
        samples[i] = first + i;
      }
      permutation.replace(samples, 0, count);
    }
  }

  private record Odd(Permutation even, Permutation first, Permutation second)
      implements SampleOrder {
    @Override
    public long size() {
      return even.size();
    }

    @Override
    public long at(long position) {
      long half = first.size();
      return position < half
          ? even.at(second.size() + first.at(position))
          : even.at(second.at(position - half));
    }

    @Override
    public void fill(long from, long[] samples, int count) {
      long half = first.size();
      int inFirst = (int) Math.max(0, Math.min(count, half - from));
      for (int i = 0; i < count; i++) {
        samples[i] = i < inFirst ? from + i : from + i - half;
      }
      first.replace(samples, 0, inFirst);
      for (int i = 0; i < inFirst; i++) {
        samples[i] += second.size();
      }
      second.replace(samples, inFirst, count - inFirst);
      even.replace(samples, 0, count);
    }
  }
}
