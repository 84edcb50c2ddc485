// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.ddstore.formats.ContentStream;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
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

  /**
   * Reads the header of a file.
   *
   * @param name name of the column
   * @throws FormatException if the file is not IDX, or has another size than the header declares
   */
  static IdxArray inspect(InputFile file, String name) throws IOException {
    IdxHeader header;
    try (InputFile.Content content = file.open()) {
      if (isGzip(file)) {
        try (StreamedBytes unzipped = unzipped(file, content, Long.MAX_VALUE)) {
          header = IdxHeader.read(file.path(), unzipped::read);
        }
      } else {
        header = IdxHeader.read(file.path(), content::read);
      }
    } catch (ZipException e) {
      throw new FormatException(file.path(), "not a gzip file: " + e.getMessage(), e);
    }
    long expected = header.fileBytes(file.path());
    if (!isGzip(file) && file.length() != expected) {
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

  private static boolean isGzip(InputFile file) {
    return file.name().toLowerCase(Locale.ROOT).endsWith(GZIP);
  }

  private static StreamedBytes unzipped(InputFile file, InputFile.Content content, long bytes) {
    return new StreamedBytes(
        () -> new GZIPInputStream(new ContentStream(content, 0, file.length()), 1 << 16), bytes);
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
      this.unzipped =
          array.isCompressed()
              ? unzipped(array.file, content, array.header.fileBytes(array.file.path()))
              : null;
    }

    Values read(long from, int count) throws IOException {
      int width = array.column.elements();
      int rowBytes = Math.multiplyExact(width, array.column.type().bytes());
      ByteBuffer elements = ByteBuffer.allocate(Math.multiplyExact(count, rowBytes));
      long position = array.header.dataOffset() + from * rowBytes;
      if (unzipped == null) {
        content.read(position, elements);
      } else {
        try {
          unzipped.read(position, elements);
        } catch (ZipException e) {
          throw new FormatException(array.file.path(), "damaged: " + e.getMessage(), e);
        }
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
