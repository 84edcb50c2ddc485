// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * The location and identity of a rank's lane. The driver sends the addresses of all ranks to every
 * rank, so an address is short, and its length does not depend on the paths of the machine:
 *
 * <pre>
 * byte version | int32 rank | int32 size | 16 bytes nonce | int64 boot id
 * byte d, 255 without a file | d bytes directory, UTF-8 | process address, or nothing
 * </pre>
 *
 * (big-endian).
 *
 * @param host host of the rank; only its processes can map the file
 * @param directory directory of the lane's file, relative to a root that all ranks know; null
 *     without a file
 * @param process sender of the lane's messages; null if it sends none
 */
record LaneAddress(
    int rank, int size, Nonce nonce, BootId host, String directory, ProcessAddress process) {
  /** Largest size of {@link #toBytes()}. */
  static final int MAX_BYTES = 188;

  private static final byte VERSION = 4;
  private static final int NO_DIRECTORY = 255;
  private static final int HEADER_BYTES = 1 + 2 * Integer.BYTES + 3 * Long.BYTES + 1;

  /** Returns the bytes; throws if directory and host name are too long together. */
  byte[] toBytes() {
    byte[] names = directory == null ? new byte[0] : directory.getBytes(StandardCharsets.UTF_8);
    byte[] network = process == null ? new byte[0] : process.toBytes();
    int bytes = HEADER_BYTES + names.length + network.length;
    if (bytes > MAX_BYTES) {
      throw tooLong(bytes, names.length);
    }
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.put(VERSION).putInt(rank).putInt(size);
    nonce.write(out, out.position());
    out.position(out.position() + 2 * Long.BYTES);
    out.putLong(host.bits());
    out.put((byte) (directory == null ? NO_DIRECTORY : names.length));
    return out.put(names).put(network).array();
  }

  private IllegalArgumentException tooLong(int bytes, int directoryBytes) {
    String what =
        process == null
            ? "directory \"%s\" of %d bytes".formatted(directory, directoryBytes)
            : "host name \"%s\" of %d characters: use a shorter one, or the IP address"
                .formatted(process.host(), process.host().length());
    return new IllegalArgumentException(
        "the address of rank %d has %d bytes, at most %d are allowed; it contains the %s"
            .formatted(rank, bytes, MAX_BYTES, what));
  }

  /** Parses an address; throws {@link IllegalArgumentException} if it is invalid. */
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
      Nonce nonce = Nonce.read(in, in.position());
      in.position(in.position() + 2 * Long.BYTES);
      BootId host = new BootId(in.getLong());
      int length = Byte.toUnsignedInt(in.get());
      String directory = length == NO_DIRECTORY ? null : directory(in, length);
      byte[] network = new byte[in.remaining()];
      in.get(network);
      return new LaneAddress(
          rank,
          size,
          nonce,
          host,
          directory,
          network.length == 0 ? null : ProcessAddress.parse(network));
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "endpoint address of %d bytes is truncated".formatted(bytes.length), e);
    }
  }

  /** Returns the directory; rejects a name that leads out of the root. */
  private static String directory(ByteBuffer in, int length) {
    byte[] utf8 = new byte[length];
    in.get(utf8);
    String directory = new String(utf8, StandardCharsets.UTF_8);
    Path path = Path.of(directory);
    if (path.isAbsolute() || path.startsWith("..") || !path.equals(path.normalize())) {
      throw new IllegalArgumentException(
          "endpoint address with invalid directory \"" + directory + "\"");
    }
    return directory;
  }
}
