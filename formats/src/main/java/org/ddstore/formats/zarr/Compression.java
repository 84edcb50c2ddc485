// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;

/** Decoders of general compression formats and checksums. */
final class Compression {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int CRC_BYTES = 4;
  private static final int LZ4_HEADER_BYTES = 4;

  /** Opens a stream that decompresses another one. */
  @FunctionalInterface
  private interface Opener {
    InputStream open(InputStream encoded) throws IOException;
  }

  private Compression() {}

  static ByteBuffer zlib(ByteBuffer encoded, int limit) throws IOException {
    return drain(encoded, limit, InflaterInputStream::new);
  }

  static ByteBuffer gzip(ByteBuffer encoded, int limit) throws IOException {
    return drain(encoded, limit, in -> new GZIPInputStream(in, BUFFER_BYTES));
  }

  static ByteBuffer bz2(ByteBuffer encoded, int limit) throws IOException {
    return drain(encoded, limit, in -> new BZip2CompressorInputStream(in, true));
  }

  private static ByteBuffer drain(ByteBuffer encoded, int limit, Opener opener) throws IOException {
    try (InputStream in =
        opener.open(
            new ByteArrayInputStream(
                encoded.array(),
                encoded.arrayOffset() + encoded.position(),
                encoded.remaining()))) {
      if (limit == ByteCodec.UNKNOWN) {
        return ByteBuffer.wrap(in.readNBytes(limit));
      }
      byte[] decoded = new byte[limit];
      int length = in.readNBytes(decoded, 0, limit);
      if (in.read() >= 0) {
        throw tooLong(limit);
      }
      return ByteBuffer.wrap(decoded, 0, length);
    }
  }

  private static IOException tooLong(int limit) {
    return new IOException("the decoded chunk has more than %,d bytes".formatted(limit));
  }

  @SuppressWarnings("deprecation") // decompressedSize: its new name is missing in Spark 3.5
  static ByteBuffer zstd(ByteBuffer encoded, int limit) throws IOException {
    int from = encoded.arrayOffset() + encoded.position();
    long size = Zstd.decompressedSize(encoded.array(), from, encoded.remaining());
    if (size <= 0) { // not in the frame
      return drain(encoded, limit, ZstdInputStreamNoFinalizer::new);
    }
    if (size > limit) {
      throw tooLong(limit);
    }
    byte[] decoded = new byte[(int) size];
    try {
      long length =
          Zstd.decompressByteArray(
              decoded, 0, decoded.length, encoded.array(), from, encoded.remaining());
      if (Zstd.isError(length) || length != size) {
        throw new IOException("damaged: " + Zstd.getErrorName(length));
      }
    } catch (ZstdException e) {
      throw new IOException("damaged: " + e.getMessage(), e);
    }
    return ByteBuffer.wrap(decoded);
  }

  /** Decodes a block of LZ4 after its decoded size in 32 bits, as numcodecs writes it. */
  static ByteBuffer lz4(ByteBuffer encoded, int limit) throws IOException {
    if (encoded.remaining() < LZ4_HEADER_BYTES) {
      throw new IOException("truncated: %d bytes".formatted(encoded.remaining()));
    }
    int size = encoded.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (size < 0 || size > limit) {
      throw tooLong(limit);
    }
    byte[] decoded = new byte[size];
    try {
      int length =
          LZ4Factory.safeInstance()
              .safeDecompressor()
              .decompress(
                  encoded.array(),
                  encoded.arrayOffset() + encoded.position() + LZ4_HEADER_BYTES,
                  encoded.remaining() - LZ4_HEADER_BYTES,
                  decoded,
                  0);
      return ByteBuffer.wrap(decoded, 0, length);
    } catch (LZ4Exception e) {
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }

  /** Checks and removes the CRC-32C at the end. */
  static ByteBuffer crc32c(ByteBuffer encoded, int limit) throws IOException {
    int length = encoded.remaining() - CRC_BYTES;
    if (length < 0) {
      throw new IOException("truncated: %d bytes".formatted(encoded.remaining()));
    }
    ByteBuffer content = encoded.slice(encoded.position(), length);
    CRC32C sum = new CRC32C();
    sum.update(content.duplicate());
    int stored =
        encoded
            .slice(encoded.position() + length, CRC_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .getInt();
    if ((int) sum.getValue() != stored) {
      throw new IOException(
          "damaged: the checksum is %08x, stored is %08x".formatted((int) sum.getValue(), stored));
    }
    return content;
  }

  /** Returns the bytes of a buffer as an array of their own length. */
  static byte[] exactArray(ByteBuffer bytes) {
    int from = bytes.arrayOffset() + bytes.position();
    boolean whole = from == 0 && bytes.remaining() == bytes.array().length;
    return whole
        ? bytes.array()
        : Arrays.copyOfRange(bytes.array(), from, from + bytes.remaining());
  }
}
