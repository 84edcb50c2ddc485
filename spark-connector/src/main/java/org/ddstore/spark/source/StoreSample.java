// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.sampling.Permutation;
import org.ddstore.spark.types.OptionKeys;

/**
 * A uniform random sample of the rows of a store, without repeats: the first rows of the
 * permutation of a seed. The same seed and number of rows give the same sample, and a smaller
 * sample is a part of a larger one.
 *
 * @param seed key of the permutation
 */
record StoreSample(long count, long seed) {
  private static final long DEFAULT_SEED = 0;

  /**
   * Largest number of rows of a sample. The driver holds up to three numbers for each row, and
   * sends them.
   */
  private static final long MAX_ROWS = 10_000_000;

  /**
   * Reads the options of a scan.
   *
   * @return null if the scan reads all rows
   * @throws IllegalArgumentException if a value is not an integer, or only a seed is given
   */
  static StoreSample of(CaseInsensitiveStringMap options) {
    String count = options.get(OptionKeys.SAMPLE);
    String seed = options.get(OptionKeys.SAMPLE_SEED);
    if (count == null) {
      if (seed != null) {
        throw new IllegalArgumentException(
            "option \"%s\" is %s without option \"%s\", the number of rows"
                .formatted(OptionKeys.SAMPLE_SEED, seed, OptionKeys.SAMPLE));
      }
      return null;
    }
    return new StoreSample(
        ReadOptions.integer(OptionKeys.SAMPLE, count),
        seed == null ? DEFAULT_SEED : ReadOptions.integer(OptionKeys.SAMPLE_SEED, seed));
  }

  /**
   * Returns the sampled rows. Computed locally, in time and memory proportional to their number.
   *
   * @throws IllegalArgumentException if the number of rows is out of range
   */
  RowRanges of(long rows, String store) {
    check(rows, store);
    Permutation order = Permutation.keyed(rows, seed);
    long[] sampled = new long[(int) count];
    for (int i = 0; i < sampled.length; i++) {
      sampled[i] = order.at(i);
    }
    return RowRanges.of(sampled);
  }

  /**
   * Checks the number of rows; see {@link #of(long, String)}.
   *
   * @throws IllegalArgumentException if the number of rows is out of range
   */
  void check(long rows, String store) {
    long sampled = Math.min(rows, MAX_ROWS);
    if (count < 0 || count > sampled) {
      throw new IllegalArgumentException(
          "sample of %,d rows of store \"%s\", outside [0, %,d]".formatted(count, store, sampled));
    }
  }
}
