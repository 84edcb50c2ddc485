// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipException;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.StreamedBytes;
import org.ddstore.formats.Values;
import org.ddstore.formats.source.CloseAll;

/** A reader of arrays that share the first axis; it opens the file of an array when it is read. */
final class ArraysReader implements SampleReader {
  private final List<NumpyArray> arrays;
  private final ArrayRows[] rows;
  private final Map<String, InputFile.Content> contents = new HashMap<>();
  private final Deque<Closeable> opened = new ArrayDeque<>();
  private long reorderedBytes;

  ArraysReader(List<NumpyArray> arrays) {
    this.arrays = arrays;
    this.rows = new ArrayRows[arrays.size()];
  }

  @Override
  public Values read(int column, long from, int count) throws IOException {
    if (rows[column] == null) {
      NumpyArray array = arrays.get(column);
      rows[column] = new ArrayRows(array.header(), array.column(), bytes(array));
    }
    try {
      return rows[column].read(from, count);
    } catch (ZipException e) {
      throw new FormatException(
          arrays.get(column).header().file(), "damaged: " + e.getMessage(), e);
    } catch (EOFException e) {
      throw FormatException.truncated(arrays.get(column).header().file(), e);
    }
  }

  private NpyHeader.Bytes bytes(NumpyArray array) throws IOException {
    InputFile.Content content = content(array.file());
    NpzEntry entry = array.entry();
    NpyHeader.Bytes bytes;
    if (entry == null) {
      bytes = content::read;
    } else if (entry.isDeflated()) {
      StreamedBytes inflated = new StreamedBytes(() -> entry.open(content));
      opened.push(inflated);
      bytes = inflated::read;
    } else {
      bytes = (position, to) -> content.read(entry.offset() + position, to);
    }
    // Elements of a row are far apart in Fortran order: one by one, they cannot be read from a
    // stream, and cost a read each of a file that is one row.
    boolean isWhole = array.header().fortran() && (array.isDeflated() || array.rows() == 1);
    return isWhole ? inMemory(array.header(), bytes) : bytes;
  }

  private InputFile.Content content(InputFile file) throws IOException {
    InputFile.Content content = contents.get(file.path());
    if (content == null) {
      try {
        content = file.open();
      } catch (FileNotFoundException | NoSuchFileException e) { // the data set may be its folder
        throw new FormatException(file.path(), "the file is gone since it was listed", e);
      }
      contents.put(file.path(), content);
      opened.push(content);
    }
    return content;
  }

  private NpyHeader.Bytes inMemory(NpyHeader header, NpyHeader.Bytes from) throws IOException {
    long length = header.end();
    if (length > ReadBudget.MAX_ARRAY_LENGTH) {
      throw new FormatException(
          header.file(),
          "fortran_order: %,d bytes are too many to be reordered in memory: save it in C order, as in np.ascontiguousarray(a)"
              .formatted(length));
    }
    reorderedBytes += length;
    ReadBudget.requireHeld(
        header.file(), "fortran_order: the arrays that are reordered in memory", reorderedBytes);
    ByteBuffer all = ByteBuffer.allocate((int) length);
    from.read(0, all);
    return (position, to) -> to.put(all.slice((int) position, to.remaining()));
  }

  /** Closes what is open, the last opened first. */
  @Override
  public void close() throws IOException {
    Closeable[] closed = opened.toArray(Closeable[]::new);
    opened.clear();
    CloseAll.of(closed);
  }
}
