// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;
import org.ddstore.formats.ContentStream;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;

/**
 * The place of a member in an archive.
 *
 * @param compression whether the bytes are stored or deflated
 * @param offset position of the first stored byte in the file
 * @param storedBytes number of bytes in the file
 * @param bytes number of bytes of the member
 * @param crc CRC-32 of the bytes of the member
 */
record NpzEntry(Compression compression, long offset, long storedBytes, long bytes, long crc)
    implements Serializable {
  private static final int BUFFER_BYTES = 1 << 16;

  /** The compression of a member. */
  enum Compression {
    STORED,
    DEFLATED
  }

  boolean isDeflated() {
    return compression == Compression.DEFLATED;
  }

  /** Returns the bytes of the member. */
  InputStream open(InputFile.Content content) {
    InputStream stored = new ContentStream(content, offset, storedBytes);
    if (!isDeflated()) {
      return stored;
    }
    Inflater inflater = new Inflater(true);
    return new InflaterInputStream(stored, inflater, BUFFER_BYTES) {
      @Override
      public void close() throws IOException {
        inflater.end();
        super.close();
      }
    };
  }

  /** Checks that the stored bytes can have the declared size. */
  void requirePossibleSize(String place) {
    if (isDeflated()
        ? bytes > storedBytes * ReadBudget.DEFLATE_RATIO // the product is far below 2^63
        : bytes != storedBytes) {
      throw new FormatException(
          place,
          "damaged: it declares %,d bytes, which %,d %s bytes cannot be"
              .formatted(bytes, storedBytes, isDeflated() ? "compressed" : "stored"));
    }
  }

  /** Reads the member once, without holding it, and compares size and checksum. */
  void requireIntact(String place, InputFile.Content content) throws IOException {
    CRC32 checksum = new CRC32();
    byte[] part = new byte[BUFFER_BYTES];
    long count = 0;
    try (InputStream member = open(content)) {
      int taken = member.read(part);
      while (taken >= 0 && count <= bytes) {
        checksum.update(part, 0, taken);
        count += taken;
        taken = member.read(part);
      }
    } catch (ZipException e) {
      throw new FormatException(place, "damaged: " + e.getMessage(), e);
    } catch (EOFException e) {
      throw FormatException.truncated(place, e);
    }
    if (count != bytes || checksum.getValue() != crc) {
      throw new FormatException(
          place,
          "damaged: the checksum of %,d bytes is %08x, the archive declares %,d bytes with %08x"
              .formatted(count, checksum.getValue(), bytes, crc));
    }
  }
}
