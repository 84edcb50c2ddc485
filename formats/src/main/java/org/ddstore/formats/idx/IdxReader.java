// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import java.io.IOException;
import java.util.List;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;
import org.ddstore.formats.source.CloseAll;

/** A reader of one array, or of images and labels; it opens a file when its column is read. */
final class IdxReader implements SampleReader {
  private final List<IdxArray> arrays;
  private final IdxArray.Reader[] readers;

  IdxReader(List<IdxArray> arrays) {
    this.arrays = arrays;
    this.readers = new IdxArray.Reader[arrays.size()];
  }

  @Override
  public Values read(int column, long from, int count) throws IOException {
    if (readers[column] == null) {
      readers[column] = arrays.get(column).open();
    }
    return readers[column].read(from, count);
  }

  @Override
  public void close() throws IOException {
    CloseAll.of(readers);
  }
}
