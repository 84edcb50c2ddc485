// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.DDStoreException;

/**
 * The description of one segment that its owner sends to readers, who need no further question.
 * Big-endian:
 *
 * <pre>
 * u8 status | u8 format version | text means | bytes address of the serving endpoint
 * piece version word | int64 version | int32 log2 of rows per chunk | pieces chunks
 * int64s chunk starts (ragged) | int32 log2 of offsets per piece | int64s offsets | pieces offsets
 *
 * text, bytes: int32 length, then the bytes | int64s, pieces: int32 count, then the elements
 * piece: int64 remote address | int64 key | int64 bytes
 * </pre>
 *
 * A small set of offsets of ragged records is sent in the table; a larger one is registered.
 *
 * @param means value of {@link FabricOffer#means()}, which must be equal to the reader's
 * @param address address of the serving endpoint, in the format of its provider
 * @param word location of the version word
 * @param version value of the version word when the table was made
 * @param offsets all offsets, or empty
 * @param offsetPieces locations of the offsets, or empty
 */
record MemoryTable(
    String means,
    List<Byte> address,
    Piece word,
    long version,
    int rowShift,
    List<Piece> chunks,
    List<Long> chunkStarts,
    int offsetShift,
    List<Long> offsets,
    List<Piece> offsetPieces) {
  static final byte OK = 0;

  /** Status: the segment does not exist, or no longer exists. */
  static final byte GONE = 1;

  /** Status: the segment is being registered; query again. */
  static final byte BUSY = 2;

  private static final byte FORMAT = 2;

  /** Registered memory as a reader refers to it. */
  record Piece(long remote, long key, long bytes) {
    static final int BYTES = 3 * Long.BYTES;
  }

  ByteBuffer encode() {
    byte[] name = means.getBytes(StandardCharsets.UTF_8);
    long bytes =
        2L
            + 8 * Integer.BYTES
            + name.length
            + address.size()
            + Long.BYTES
            + Piece.BYTES * (1L + chunks.size() + offsetPieces.size())
            + Long.BYTES * ((long) chunkStarts.size() + offsets.size());
    ByteBuffer out = ByteBuffer.allocate(Math.toIntExact(bytes));
    out.put(OK).put(FORMAT).putInt(name.length).put(name).putInt(address.size());
    address.forEach(out::put);
    put(out, word);
    out.putLong(version).putInt(rowShift);
    putAll(out, chunks);
    putLongs(out, chunkStarts);
    out.putInt(offsetShift);
    putLongs(out, offsets);
    putAll(out, offsetPieces);
    return out.flip();
  }

  /**
   * Decodes the bytes that follow {@link #OK}.
   *
   * @throws java.nio.BufferUnderflowException if the table is truncated
   */
  static MemoryTable decode(ByteBuffer in) {
    byte format = in.get();
    if (format != FORMAT) {
      throw new DDStoreException(
          "memory table has format %d, expected %d: use the same version of DDStore on all executors"
              .formatted(format, FORMAT));
    }
    byte[] name = new byte[count(in, 1)];
    in.get(name);
    List<Byte> address = new ArrayList<>();
    for (int left = count(in, 1); left > 0; left--) {
      address.add(in.get());
    }
    Piece word = getPiece(in);
    long version = in.getLong();
    int rowShift = in.getInt();
    List<Piece> chunks = getPieces(in);
    List<Long> chunkStarts = getLongs(in);
    int offsetShift = in.getInt();
    List<Long> offsets = getLongs(in);
    List<Piece> offsetPieces = getPieces(in);
    return new MemoryTable(
        new String(name, StandardCharsets.UTF_8),
        List.copyOf(address),
        word,
        version,
        rowShift,
        chunks,
        chunkStarts,
        offsetShift,
        offsets,
        offsetPieces);
  }

  private static void put(ByteBuffer out, Piece piece) {
    out.putLong(piece.remote()).putLong(piece.key()).putLong(piece.bytes());
  }

  private static void putAll(ByteBuffer out, List<Piece> pieces) {
    out.putInt(pieces.size());
    pieces.forEach(piece -> put(out, piece));
  }

  private static void putLongs(ByteBuffer out, List<Long> numbers) {
    out.putInt(numbers.size());
    numbers.forEach(out::putLong);
  }

  private static int count(ByteBuffer in, int elementBytes) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / elementBytes) {
      throw new DDStoreException("invalid element count %,d in a memory table".formatted(count));
    }
    return count;
  }

  private static Piece getPiece(ByteBuffer in) {
    return new Piece(in.getLong(), in.getLong(), in.getLong());
  }

  private static List<Piece> getPieces(ByteBuffer in) {
    List<Piece> pieces = new ArrayList<>();
    for (int left = count(in, Piece.BYTES); left > 0; left--) {
      pieces.add(getPiece(in));
    }
    return pieces;
  }

  private static List<Long> getLongs(ByteBuffer in) {
    List<Long> numbers = new ArrayList<>();
    for (int left = count(in, Long.BYTES); left > 0; left--) {
      numbers.add(in.getLong());
    }
    return numbers;
  }
}
