// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.ddstore.formats.ContentStream;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.StreamedBytes;
import org.ddstore.formats.Values;

/**
 * An array in a file, and the column that it becomes.
 *
 * @param file file, compressed by gzip if its name ends with {@code .gz}
 */
record IdxArray(InputFile file, IdxHeader header, SampleColumn column) implements Serializable {
  private static final String GZIP = ".gz";

  /** Reads the header of a file, which must have the size that the header declares. */
  static IdxArray inspect(InputFile file, String name) throws IOException {
    try (InputFile.Content content = file.open()) {
      return isGzip(file) ? unzip(file, content, name) : read(file, content, name);
    } catch (ZipException e) {
      throw new FormatException(file.path(), "damaged, or not a gzip file: " + e.getMessage(), e);
    } catch (EOFException e) { // the plan may be that of the images of these labels
      throw FormatException.truncated(file.path(), e);
    }
  }

  private static IdxArray read(InputFile file, InputFile.Content content, String name)
      throws IOException {
    IdxHeader header = IdxHeader.read(file.path(), content::read);
    long expected = header.fileBytes(file.path());
    if (file.length() != expected) {
      throw new FormatException(
          file.path(),
          "%s: the header declares %,d bytes, the file has %,d"
              .formatted(
                  file.length() < expected ? "truncated" : "not an IDX file",
                  expected,
                  file.length()));
    }
    return new IdxArray(file, header, header.column(file.path(), name));
  }

  /** Decompresses the file once, without holding it: only its end has size and checksum. */
  private static IdxArray unzip(InputFile file, InputFile.Content content, String name)
      throws IOException {
    try (StreamedBytes unzipped = unzipped(file, content)) {
      IdxHeader header = IdxHeader.read(file.path(), unzipped::read);
      SampleColumn column = header.column(file.path(), name);
      long expected = header.fileBytes(file.path());
      if (expected / ReadBudget.DEFLATE_RATIO > file.length()) {
        throw new FormatException(
            file.path(),
            "truncated: the header declares %,d bytes, which %,d compressed bytes cannot be"
                .formatted(expected, file.length()));
      }
      unzipped.requireEnd(expected);
      return new IdxArray(file, header, column);
    }
  }

  /** Returns whether gzip compresses a file, by its name. */
  static boolean isGzip(InputFile file) {
    return file.name().toLowerCase(Locale.ROOT).endsWith(GZIP);
  }

  private static StreamedBytes unzipped(InputFile file, InputFile.Content content) {
    return new StreamedBytes(
        () -> new GZIPInputStream(new ContentStream(content, 0, file.length()), 1 << 16));
  }

  boolean isCompressed() {
    return isGzip(file);
  }

  int rows() {
    return header.rows();
  }

  Reader open() throws IOException {
    return new Reader(this);
  }

  /** A reader of the rows of an array. Not thread-safe. */
  static final class Reader implements Closeable {
    private final IdxArray array;
    private final InputFile.Content content;
    private final StreamedBytes unzipped;

    private Reader(IdxArray array) throws IOException {
      this.array = array;
      this.content = array.file.open();
      this.unzipped = array.isCompressed() ? unzipped(array.file, content) : null;
    }

    Values read(long from, int count) throws IOException {
      int width = array.column.elements();
      int rowBytes = Math.multiplyExact(width, array.column.type().bytes());
      ByteBuffer elements = ByteBuffer.allocate(Math.multiplyExact(count, rowBytes));
      long position = array.header.dataOffset() + from * rowBytes;
      try {
        if (unzipped == null) {
          content.read(position, elements);
        } else {
          unzipped.read(position, elements);
        }
      } catch (ZipException e) {
        throw new FormatException(array.file.path(), "damaged: " + e.getMessage(), e);
      } catch (EOFException e) {
        throw FormatException.truncated(array.file.path(), e);
      }
      elements.flip();
      return array.column.values(elements, count);
    }

    @Override
    public void close() throws IOException {
      try (content) {
        if (unzipped != null) {
          unzipped.close();
        }
      }
    }
  }
}
