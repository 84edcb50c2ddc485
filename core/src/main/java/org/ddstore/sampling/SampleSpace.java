// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;
import java.util.Optional;
import java.util.stream.LongStream;

/** The samples of a data set by number: the rows of each, and the part of a field. */
public interface SampleSpace {
  /** Space in which each sample is a row. */
  SampleSpace ROWS =
      new SampleSpace() {
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
        public void allRows(long[] samples, int count, long[] rows) {
          System.arraycopy(samples, 0, rows, 0, count);
        }

        @Override
        public RowSubset samplesWithin(RowSubset subset) {
          return subset;
        }

        @Override
        public String describe() {
          return "";
        }
      };

  /**
   * {@return the number of samples of a number of rows}
   *
   * @param rows number of rows of the variable
   */
  long samples(long rows);

  /** {@return the number of rows of a sample, at least 1; a batch stores them consecutively} */
  int rowsPerSample();

  /**
   * Writes the rows of a sample.
   *
   * @param sample number of the sample
   * @param offset index of the first of {@link #rowsPerSample()} elements in {@code rows}
   * @param rows number of rows of the variable
   */
  void rows(long sample, long[] rows, int offset);

  /**
   * Writes the rows of the first {@code count} samples, one sample after the other.
   *
   * @param samples numbers of samples
   * @param count number of samples to convert
   * @param rows at least {@link #rowsPerSample()} elements for each sample
   */
  default void allRows(long[] samples, int count, long[] rows) {
    for (int i = 0; i < count; i++) {
      rows(samples[i], rows, i * rowsPerSample());
    }
  }

  /** {@return the part of a field that a sample has, if not all of it} */
  default Optional<Crop> crop() {
    return Optional.empty();
  }

  /**
   * {@return the numbers of the samples all of whose rows belong to a subset} By default tests all
   * samples of {@code subset.end()} rows; {@link #samples} must number them from 0.
   *
   * @param subset rows of the store
   */
  default RowSubset samplesWithin(RowSubset subset) {
    Objects.requireNonNull(subset, "subset is null");
    long[] rows = new long[rowsPerSample()];
    return RowSubset.matching(
        samples(subset.end()),
        sample -> {
          rows(sample, rows, 0);
          return LongStream.of(rows).allMatch(subset::contains);
        });
  }

  /** {@return the text for {@link Sampler#describe()}; empty if a sample is a row} */
  String describe();
}
