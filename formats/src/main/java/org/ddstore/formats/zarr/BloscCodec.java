// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.scalableminds.bloscjava.Blosc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The codec {@code blosc}, by its library in C. The library trusts the header of a buffer, so this
 * class checks the sizes in it first.
 */
final class BloscCodec {
  private static final int HEADER_BYTES = 16;
  private static final int SIZE_AT = 4;
  private static final int ENCODED_SIZE_AT = 12;

  private BloscCodec() {}

  static ByteBuffer decode(ByteBuffer encoded, int limit) throws IOException {
    if (encoded.remaining() < HEADER_BYTES) {
      throw new IOException("truncated: %,d bytes".formatted(encoded.remaining()));
    }
    ByteBuffer header = encoded.slice().order(ByteOrder.LITTLE_ENDIAN);
    int size = header.getInt(SIZE_AT);
    int encodedSize = header.getInt(ENCODED_SIZE_AT);
    if (encodedSize != encoded.remaining()) {
      throw new IOException(
          "truncated or damaged: the header declares %,d bytes, the chunk has %,d"
              .formatted(encodedSize, encoded.remaining()));
    }
    if (size < 0 || size > limit) {
      throw new IOException(
          "the decoded chunk has %,d bytes, more than %,d".formatted(size, limit));
    }
    if (size == 0) {
      return ByteBuffer.allocate(0);
    }
    byte[] decoded;
    try {
      decoded = Blosc.decompress(Compression.exactArray(encoded));
    } catch (NoClassDefFoundError e) {
      throw new IOException(
          "the jar of blosc is not on the class path: add com.scalableminds:blosc-java", e);
    } catch (LinkageError e) {
      throw new IOException(
          "the library of blosc does not load on this platform (%s %s): store the array with another codec, such as zstd"
              .formatted(System.getProperty("os.name"), System.getProperty("os.arch")),
          e);
    } catch (RuntimeException e) {
      throw new IOException("damaged: " + e.getMessage(), e);
    }
    if (decoded == null || decoded.length != size) {
      throw new IOException("damaged: the blocks of the chunk cannot be decoded");
    }
    return ByteBuffer.wrap(decoded);
  }
}
