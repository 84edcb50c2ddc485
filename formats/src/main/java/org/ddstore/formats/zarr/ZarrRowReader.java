// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.util.List;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/** A reader of rows that are indices of the first axis. */
record ZarrRowReader(OpenArrays arrays, List<SampleColumn> columns) implements SampleReader {
  @Override
  public Values read(int ordinal, long from, int count) throws IOException {
    SampleColumn column = columns.get(ordinal);
    ZarrArray array = arrays.get(ordinal);
    int[] lengths = new int[column.shape().length + 1];
    lengths[0] = count;
    System.arraycopy(column.shape(), 0, lengths, 1, column.shape().length);
    long[] start = new long[lengths.length];
    start[0] = from;
    arrays.memory().startBatch(from);
    if (column.type() == ElementType.TEXT) {
      return Values.texts(array.readTextsInBatch(start, lengths));
    }
    return column.values(array.readForward(start, lengths), count);
  }

  @Override
  public void close() throws IOException {
    arrays.close();
  }
}
