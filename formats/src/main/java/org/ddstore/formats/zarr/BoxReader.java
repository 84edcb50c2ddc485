// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/**
 * A reader of rows that are boxes; the last column has their origins.
 *
 * @param dimensions number of dimensions of the origins
 */
record BoxReader(
    OpenArrays arrays, List<SampleColumn> columns, BoxPlan.Origins origins, int dimensions)
    implements SampleReader {
  @Override
  public Values read(int ordinal, long from, int count) throws IOException {
    if (ordinal == columns.size() - 1) {
      return starts(from, count);
    }
    SampleColumn column = columns.get(ordinal);
    ZarrArray array = arrays.get(ordinal);
    int[] lengths = column.shape();
    int width = column.elements();
    arrays.memory().startBatch(from);
    for (int i = 0; i < count; i++) {
      arrays.memory().addValues(array, start(from + i, lengths.length), lengths);
    }
    ByteBuffer numbers = array.allocate(count * width);
    for (int i = 0; i < count; i++) {
      array.copy(start(from + i, lengths.length), lengths, numbers, i * width);
    }
    return column.values(numbers, count);
  }

  /** Returns the first element of a box, which is complete in the axes without an origin. */
  private long[] start(long box, int axes) {
    long[] origin = new long[dimensions];
    origins.write(box, origin);
    return Arrays.copyOf(origin, axes);
  }

  private Values starts(long from, int count) {
    long[] starts = new long[count * dimensions];
    long[] origin = new long[dimensions];
    for (int i = 0; i < count; i++) {
      origins.write(from + i, origin);
      System.arraycopy(origin, 0, starts, i * dimensions, dimensions);
    }
    return Values.fixed(starts, count, dimensions);
  }

  @Override
  public void close() throws IOException {
    arrays.close();
  }
}
