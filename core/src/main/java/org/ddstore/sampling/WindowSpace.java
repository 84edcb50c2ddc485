// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A space whose samples are windows over the rows: {@code window} rows that are {@code dilation}
 * apart, with the next window {@code stride} further. Windows that would pass the last row do not
 * exist.
 */
record WindowSpace(int window, int stride, int dilation) implements SampleSpace {
  WindowSpace {
    Checks.atLeastOne(window, "window");
    Checks.atLeastOne(stride, "stride");
    Checks.atLeastOne(dilation, "dilation");
  }

  @Override
  public long samples(long rows) {
    long span = (window - 1L) * dilation + 1;
    return rows < span ? 0 : (rows - span) / stride + 1;
  }

  @Override
  public int rowsPerSample() {
    return window;
  }

  @Override
  public void rows(long sample, long[] rows, int offset) {
    long row = sample * stride;
    for (int i = 0; i < window; i++) {
      rows[offset + i] = row;
      row += dilation;
    }
  }

  @Override
  public RowSubset samplesWithin(RowSubset subset) {
    return dilation == 1 ? subset.windows(window, stride) : SampleSpace.super.samplesWithin(subset);
  }

  @Override
  public String describe() {
    return "windows(%d, %d, %d)".formatted(window, stride, dilation);
  }
}
