// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Optional;

/**
 * A space whose samples are rows with one field cropped to a box at a random place. The place
 * depends on seed, epoch and position, and not on the number of ranks.
 */
record RandomCropSpace(long seed, Box box) implements SampleSpace, Crop {
  @Override
  public long samples(long rows) {
    return rows;
  }

  @Override
  public int rowsPerSample() {
    return 1;
  }

  @Override
  public void rows(long sample, long[] rows, int offset) {
    rows[offset] = sample;
  }

  @Override
  public RowSubset samplesWithin(RowSubset subset) {
    return subset;
  }

  @Override
  public Optional<Crop> crop() {
    return Optional.of(this);
  }

  @Override
  public String field() {
    return box.field().name();
  }

  @Override
  public int[] shape() {
    return box.shape();
  }

  @Override
  public void origin(long epoch, long position, long sample, int[] origin) {
    long key = KeyedHash.key(seed, epoch, position);
    for (int d = 0; d < origin.length; d++) {
      origin[d] = (int) KeyedHash.below(KeyedHash.word(key, d), box.room(d) + 1L);
    }
  }

  @Override
  public String describe() {
    return "crops(%d, %s)".formatted(seed, box);
  }
}
