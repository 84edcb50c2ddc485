// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.file;

import java.io.IOException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/** A reader of one file as one row; it opens the file only if its content is asked for. */
record WholeFileReader(InputFile file) implements SampleReader {
  @Override
  public Values read(int column, long from, int count) throws IOException {
    return switch (column) {
      case 0 -> Values.texts(file.relativePath());
      case 1 -> Values.ragged(file.readAll().array(), 0, (int) file.length());
      default -> Values.fixed(new long[] {file.length()}, 1, 1);
    };
  }

  @Override
  public void close() {}
}
