// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;

/** Decoders of filters. Each returns at most the number of bytes that its caller allows. */
final class ChunkCodecs {
  private static final int LZ4_HEADER_BYTES = 12;
  private static final int LZF_LITERALS = 1 << 5;

  private ChunkCodecs() {}

  private static Hdf5Exception damaged(String filter, String problem) {
    return Hdf5Exception.damaged("a chunk of %s %s".formatted(filter, problem));
  }

  static byte[] inflate(byte[] stored, int limit) {
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(stored);
      byte[] decoded = new byte[limit];
      int length = 0;
      while (length < limit) {
        int count = inflater.inflate(decoded, length, limit - length);
        if (count == 0) {
          break;
        }
        length += count;
      }
      if (!inflater.finished() && inflater.inflate(new byte[1]) > 0) {
        throw damaged("gzip", "has more than %,d bytes".formatted(limit));
      }
      if (!inflater.finished()) {
        throw damaged("gzip", "is truncated");
      }
      return length == limit ? decoded : Arrays.copyOf(decoded, length);
    } catch (DataFormatException e) {
      throw damaged("gzip", "cannot be decoded (%s)".formatted(e.getMessage()));
    } finally {
      inflater.end();
    }
  }

  /** Puts the bytes of each element side by side; bytes after the last element stay. */
  static byte[] unshuffle(byte[] shuffled, int elementBytes) {
    if (elementBytes < 1) {
      throw damaged("shuffle", "has elements of %d bytes".formatted(elementBytes));
    }
    int elements = shuffled.length / elementBytes;
    byte[] chunk = shuffled.clone();
    for (int b = 0; b < elementBytes && elements > 1; b++) {
      int from = b * elements;
      for (int i = 0; i < elements; i++) {
        chunk[i * elementBytes + b] = shuffled[from + i];
      }
    }
    return chunk;
  }

  /** Checks and removes the checksum at the end. */
  static byte[] withoutFletcher32(byte... chunk) {
    int length = chunk.length - Integer.BYTES;
    if (length < 0) {
      throw damaged("Fletcher32", "has %d bytes".formatted(chunk.length));
    }
    byte[] data = Arrays.copyOf(chunk, length);
    int found = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      found |= (chunk[length + i] & 0xFF) << (Byte.SIZE * i);
    }
    int expected = fletcher32(data);
    // Releases before 1.6.3 swapped the bytes of both halves on some machines.
    int swapped = Integer.rotateLeft(Integer.reverseBytes(expected), Short.SIZE);
    if (found != expected && found != swapped) {
      throw Hdf5Exception.damaged(
          "the Fletcher32 checksum of a chunk is %08x, its data have %08x"
              .formatted(found, expected));
    }
    return data;
  }

  /**
   * Returns the checksum of the HDF5 file format: two sums, modulo 2<sup>16</sup> - 1, of
   * big-endian words of 16 bits. Each half is reduced without a last subtraction, so it may be
   * 0xFFFF in place of 0.
   */
  private static int fletcher32(byte... data) {
    long low = 0;
    long high = 0;
    for (int i = 0; i < data.length; i += 2) {
      int second = i + 1 < data.length ? data[i + 1] & 0xFF : 0;
      low = folded(low + ((data[i] & 0xFF) << Byte.SIZE | second));
      high = folded(high + low);
    }
    return (int) (high << Short.SIZE | low);
  }

  /** Returns a sum of at most 2<sup>17</sup> in 16 bits, with the same rest; 0 only for 0. */
  private static long folded(long sum) {
    return (sum & 0xFFFF) + (sum >>> Short.SIZE);
  }

  /** Decodes LZF: runs of literals, and references to earlier bytes. */
  static byte[] lzf(byte[] stored, int limit) {
    byte[] decoded = new byte[limit];
    int at = 0;
    int length = 0;
    try {
      while (at < stored.length) {
        int control = stored[at++] & 0xFF;
        if (control < LZF_LITERALS) {
          System.arraycopy(stored, at, decoded, length, control + 1);
          at += control + 1;
          length += control + 1;
          continue;
        }
        int count = control >> 5;
        count += 2 + (count == 7 ? stored[at++] & 0xFF : 0);
        int from = length - ((control & 0x1F) << Byte.SIZE) - (stored[at++] & 0xFF) - 1;
        for (int i = 0; i < count; i++) { // may overlap
          decoded[length++] = decoded[from + i];
        }
      }
    } catch (IndexOutOfBoundsException e) {
      throw damaged("LZF", "cannot be decoded");
    }
    return length == limit ? decoded : Arrays.copyOf(decoded, length);
  }

  /** Decodes LZ4: the sizes of the chunk and of a block, then blocks behind their sizes. */
  static byte[] lz4(byte[] stored, int limit) {
    ByteBuffer from = ByteBuffer.wrap(stored);
    if (stored.length < LZ4_HEADER_BYTES) {
      throw damaged("LZ4", "has %d bytes".formatted(stored.length));
    }
    long size = from.getLong();
    int blockBytes = from.getInt();
    if (size < 0 || size > limit || blockBytes < 1) {
      throw damaged("LZ4", "declares %,d bytes instead of %,d".formatted(size, limit));
    }
    byte[] decoded = new byte[(int) size];
    for (int at = 0; at < decoded.length; ) {
      int length = Math.min(blockBytes, decoded.length - at);
      lz4Block(from, decoded, at, length, true);
      at += length;
    }
    return decoded;
  }

  /**
   * Decodes a block of LZ4 behind its size.
   *
   * @param mayBeRaw whether a block of its decoded size is stored as it is
   */
  static void lz4Block(ByteBuffer from, byte[] to, int at, int length, boolean mayBeRaw) {
    int size = from.remaining() < Integer.BYTES ? -1 : from.getInt();
    if (size < 0 || size > from.remaining()) {
      throw damaged("LZ4", "has a block of %,d bytes".formatted(size));
    }
    if (mayBeRaw && size == length) {
      from.get(to, at, length);
      return;
    }
    try {
      int found =
          LZ4Factory.safeInstance()
              .safeDecompressor()
              .decompress(from.array(), from.arrayOffset() + from.position(), size, to, at, length);
      if (found != length) {
        throw damaged("LZ4", "has a block of %,d bytes instead of %,d".formatted(found, length));
      }
    } catch (LZ4Exception e) {
      throw damaged("LZ4", "cannot be decoded");
    }
    from.position(from.position() + size);
  }

  static byte[] zstd(byte[] stored, int limit) {
    byte[] decoded = new byte[limit];
    try {
      long length = Zstd.decompressByteArray(decoded, 0, limit, stored, 0, stored.length);
      if (Zstd.isError(length)) {
        throw damaged("Zstandard", "cannot be decoded (%s)".formatted(Zstd.getErrorName(length)));
      }
      return length == limit ? decoded : Arrays.copyOf(decoded, (int) length);
    } catch (ZstdException e) {
      throw damaged("Zstandard", "cannot be decoded (%s)".formatted(e.getMessage()));
    }
  }
}
