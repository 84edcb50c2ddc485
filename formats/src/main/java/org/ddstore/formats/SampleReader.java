// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Closeable;
import java.io.IOException;

/** A reader of one file. Not thread-safe. */
public interface SampleReader extends Closeable {
  /**
   * Reads values of consecutive rows. Callers read the columns of a run of rows one after the
   * other, and runs in ascending order, so a reader may keep what it has decoded last.
   *
   * @param column ordinal in {@link Layout#columns()}
   * @param from first row, in the file
   * @param count number of rows, at least 1
   * @return the values, of {@code count} rows
   * @throws FormatException if the file is damaged
   * @throws IOException if the file cannot be read
   */
  Values read(int column, long from, int count) throws IOException;
}
