// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

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

  /** The compression of a member. */
  enum Compression {
    STORED,
    DEFLATED
  }

  boolean isDeflated() {
    return compression == Compression.DEFLATED;
  }

  /**
   * Returns the bytes of a deflated member. Its end compares their checksum.
   *
   * @param stored bytes of the file
   */
  InputStream inflate(InputStream stored) {
    Inflater inflater = new Inflater(true);
    CheckedInputStream inflated =
        new CheckedInputStream(new InflaterInputStream(stored, inflater, 1 << 16), new CRC32());
    return new FilterInputStream(inflated) {
      @Override
      public int read() throws IOException {
        int value = inflated.read();
        return value < 0 ? end() : value;
      }

      @Override
      public int read(byte[] to, int offset, int count) throws IOException {
        int taken = inflated.read(to, offset, count);
        return taken < 0 ? end() : taken;
      }

      private int end() throws IOException {
        long found = inflated.getChecksum().getValue();
        if (found != crc) {
          throw new ZipException(
              "the checksum of the member is %08x instead of %08x".formatted(found, crc));
        }
        return -1;
      }

      @Override
      public void close() throws IOException {
        inflater.end();
        super.close();
      }
    };
  }
}
