// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.github.luben.zstd.Zstd;
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
import net.jpountz.lz4.LZ4Factory;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.ddstore.formats.ReadBudget;

/** Decoders of general compression formats and checksums. */
final class Compression {
  private static final int BUFFER_BYTES = 1 << 16;

  /** Blocks of 128 KiB, of at least 4 bytes each (RFC 8878, section 3.1.1.2). */
  static final int ZSTD_RATIO = (128 << 10) / 4;

  /** Blocks of 900,000 runs of 255 of 5 bytes, of about 30 bytes each. */
  static final int BZ2_RATIO = 2_000_000;

  static final int CRC_BYTES = 4;
  private static final int LZ4_HEADER_BYTES = 4;

  /** Opens a stream that decompresses another one. */
  @FunctionalInterface
  private interface Opener {
    InputStream open(InputStream encoded) throws IOException;
  }

  private Compression() {}

  static ByteBuffer zlib(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    return drain(encoded, size, InflaterInputStream::new);
  }

  static ByteBuffer gzip(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    return drain(encoded, size, in -> new GZIPInputStream(in, BUFFER_BYTES));
  }

  static ByteBuffer bz2(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    Opener opener = in -> new BZip2CompressorInputStream(in, true);
    requireBacked(encoded, size, opener);
    return drain(encoded, size, opener);
  }

  /**
   * Decodes without keeping the result where the size is large and the ratio of the codec is not
   * small, so that a size that only the metadata claim is not allocated.
   */
  private static void requireBacked(ByteBuffer encoded, ByteCodec.Size size, Opener opener)
      throws IOException {
    if (!size.isExact() || size.bytes() <= ReadBudget.claimBytes()) {
      return;
    }
    byte[] buffer = new byte[BUFFER_BYTES];
    long decoded = 0;
    try (InputStream in = stream(encoded, opener)) {
      int count = in.read(buffer);
      while (count >= 0 && decoded <= size.bytes()) {
        decoded += count;
        count = in.read(buffer);
      }
    }
    if (decoded != size.bytes()) {
      throw new IOException(
          "truncated or damaged: the decoded chunk has %s%,d bytes instead of %,d"
              .formatted(decoded > size.bytes() ? "at least " : "", decoded, size.bytes()));
    }
  }

  private static InputStream stream(ByteBuffer encoded, Opener opener) throws IOException {
    return opener.open(
        new ByteArrayInputStream(
            encoded.array(), encoded.arrayOffset() + encoded.position(), encoded.remaining()));
  }

  private static ByteBuffer drain(ByteBuffer encoded, ByteCodec.Size size, Opener opener)
      throws IOException {
    try (InputStream in = stream(encoded, opener)) {
      byte[] decoded;
      int length;
      if (size.isExact()) {
        decoded = new byte[size.bytes()];
        length = in.readNBytes(decoded, 0, decoded.length);
      } else {
        decoded = in.readNBytes(size.bytes());
        length = decoded.length;
      }
      if (in.read() >= 0) {
        throw tooLong(size);
      }
      return ByteBuffer.wrap(decoded, 0, length);
    }
  }

  static IOException tooLong(ByteCodec.Size size) {
    return new IOException(
        "the decoded chunk has more than %,d bytes%s"
            .formatted(
                size.bytes(),
                size.isExact()
                    ? ""
                    : ", the limit of a task: store the array in smaller chunks, or raise spark.executor.memory"));
  }

  /** Decodes one or several frames. */
  @SuppressWarnings("deprecation") // decompressedSize: its new name is missing in Spark 3.5
  static ByteBuffer zstd(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    if (!size.isExact()) {
      return drain(encoded, size, ZstdInputStreamNoFinalizer::new);
    }
    int from = encoded.arrayOffset() + encoded.position();
    long first = Zstd.decompressedSize(encoded.array(), from, encoded.remaining());
    if (first > size.bytes()) {
      throw tooLong(size);
    }
    requireBacked(encoded, size, ZstdInputStreamNoFinalizer::new);
    byte[] decoded = new byte[size.bytes()];
    long length =
        Zstd.decompressByteArray(
            decoded, 0, decoded.length, encoded.array(), from, encoded.remaining());
    if (Zstd.isError(length)) {
      throw new IOException("damaged: " + Zstd.getErrorName(length));
    }
    return ByteBuffer.wrap(decoded, 0, (int) length);
  }

  /** Decodes a block of LZ4 after its decoded size in 32 bits, as numcodecs writes it. */
  static ByteBuffer lz4(ByteBuffer encoded, ByteCodec.Size size) throws IOException {
    if (encoded.remaining() < LZ4_HEADER_BYTES) {
      throw new IOException("truncated: %d bytes".formatted(encoded.remaining()));
    }
    int declared = encoded.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (declared < 0 || declared > size.bytes()) {
      throw tooLong(size);
    }
    int from = encoded.arrayOffset() + encoded.position() + LZ4_HEADER_BYTES;
    int length = encoded.remaining() - LZ4_HEADER_BYTES;
    if (declared > (long) length * ReadBudget.LZ4_RATIO) {
      throw new IOException(
          "truncated or damaged: %,d bytes cannot be decoded to %,d".formatted(length, declared));
    }
    byte[] decoded = new byte[declared];
    int count =
        LZ4Factory.safeInstance()
            .safeDecompressor()
            .decompress(encoded.array(), from, length, decoded, 0);
    return ByteBuffer.wrap(decoded, 0, count);
  }

  /** Checks and removes the CRC-32C at the end. */
  static ByteBuffer crc32c(ByteBuffer encoded) throws IOException {
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
