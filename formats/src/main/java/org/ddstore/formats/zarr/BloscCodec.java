// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.scalableminds.bloscjava.Blosc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.formats.ReadBudget;

/**
 * The codec {@code blosc}, by its library in C. The library trusts the header of a buffer, so this
 * class checks the sizes in it first.
 */
final class BloscCodec {
  private static final int HEADER_BYTES = 16;
  private static final int SIZE_AT = 4;
  private static final int ENCODED_SIZE_AT = 12;

  private BloscCodec() {}

  static ByteBuffer decode(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    if (encoded.remaining() < HEADER_BYTES) {
      throw new IOException("truncated: %,d bytes".formatted(encoded.remaining()));
    }
    ByteBuffer header = encoded.slice().order(ByteOrder.LITTLE_ENDIAN);
    int declared = header.getInt(SIZE_AT);
    int encodedSize = header.getInt(ENCODED_SIZE_AT);
    if (encodedSize != encoded.remaining()) {
      throw new IOException(
          "truncated or damaged: the header declares %,d bytes, the chunk has %,d"
              .formatted(encodedSize, encoded.remaining()));
    }
    if (declared < 0 || declared > size.bytes()) {
      throw Compression.tooLong(size);
    }
    if (size.isExact() && declared < size.bytes()) {
      throw new IOException(
          "truncated or damaged: the header declares %,d decoded bytes instead of %,d"
              .formatted(declared, size.bytes()));
    }
    if (declared > ReadBudget.claimBytes()
        && declared > (long) encodedSize * ReadBudget.DEFLATE_RATIO) {
      throw new IOException(
          "the header declares %,d decoded bytes, more than the %,d that a task may use for %,d encoded ones: store the array in smaller chunks"
              .formatted(declared, ReadBudget.claimBytes(), encodedSize));
    }
    if (declared == 0) {
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
    }
    if (decoded == null || decoded.length != declared) {
      throw new IOException("damaged: the blocks of the chunk cannot be decoded");
    }
    return ByteBuffer.wrap(decoded);
  }
}
