package org.ddstore.sampling;

import java.util.Optional;

/** What the samples of a data set are, by number: the rows of each, and the part of a field. */
public interface SampleSpace {
  /** A sample is a row. */
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
        public String describe() {
          return "";
        }
      };

  /** How many samples so many rows have. */
  long samples(long rows);

  /** How many rows a sample has, at least 1: a batch has them one after the other. */
  int rowsPerSample();

  /**
   * Writes the rows of a sample.
   *
   * @param offset of the first of {@link #rowsPerSample()} places in {@code rows}
   */
  void rows(long sample, long[] rows, int offset);

  /**
   * Writes the rows of the first {@code count} of these samples, one sample after the other.
   *
   * @param rows has at least {@link #rowsPerSample()} places for each
   */
  default void allRows(long[] samples, int count, long[] rows) {
    for (int i = 0; i < count; i++) {
      rows(samples[i], rows, i * rowsPerSample());
    }
  }

  /** The part of a field that a sample has, if not all of it. */
  default Optional<Crop> crop() {
    return Optional.empty();
  }

  /** For {@link Sampler#describe()}; empty if a sample is a row. */
  String describe();
}
