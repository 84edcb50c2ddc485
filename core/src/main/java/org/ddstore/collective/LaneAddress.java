package org.ddstore.collective;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Where a rank's lane is and how to know it:
 *
 * <pre>
 * byte version | int32 rank | int32 size | 16 bytes nonce | path, UTF-8     (big-endian)
 * </pre>
 */
record LaneAddress(int rank, int size, long nonceHigh, long nonceLow, String path) {
  private static final byte VERSION = 1;
  private static final int HEADER_BYTES = 1 + 2 * Integer.BYTES + 2 * Long.BYTES;

  byte[] toBytes() {
    byte[] pathBytes = path.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(HEADER_BYTES + pathBytes.length)
        .put(VERSION)
        .putInt(rank)
        .putInt(size)
        .putLong(nonceHigh)
        .putLong(nonceLow)
        .put(pathBytes)
        .array();
  }

  /**
   * @throws IllegalArgumentException if the bytes are not an address
   */
  static LaneAddress parse(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      byte version = in.get();
      if (version != VERSION) {
        throw new IllegalArgumentException(
            "endpoint address of version %d, expected %d".formatted(version, VERSION));
      }
      int rank = in.getInt();
      int size = in.getInt();
      long nonceHigh = in.getLong();
      long nonceLow = in.getLong();
      if (!in.hasRemaining()) {
        throw new BufferUnderflowException();
      }
      String path = StandardCharsets.UTF_8.decode(in).toString();
      return new LaneAddress(rank, size, nonceHigh, nonceLow, path);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException(
          "endpoint address of %d bytes, expected more than %d"
              .formatted(bytes.length, HEADER_BYTES),
          e);
    }
  }

  LaneAddress withPath(Path newPath) {
    return new LaneAddress(rank, size, nonceHigh, nonceLow, newPath.toString());
  }

  String nonceText() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(nonceHigh) + hex.toHexDigits(nonceLow);
  }
}
