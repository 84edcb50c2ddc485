// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the fields of a structure one after the other. */
final class Cursor {
  /** Address of something that the file does not have; as a length, unlimited. */
  static final long UNDEFINED = -1;

  private final ByteBuffer bytes;
  private final int offsetBytes;
  private final int lengthBytes;

  /**
   * Creates a cursor on a structure, little-endian, from the position to the limit.
   *
   * @param offsetBytes size of an address in this file
   * @param lengthBytes size of a length in this file
   */
  Cursor(ByteBuffer bytes, int offsetBytes, int lengthBytes) {
    this.bytes = bytes;
    this.offsetBytes = offsetBytes;
    this.lengthBytes = lengthBytes;
  }

  /** {@return the number of the highest bit that is set; -1 for 0} */
  static int log2(long value) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(value);
  }

  private void require(long count) {
    if (count < 0 || count > bytes.remaining()) {
      throw Hdf5Exception.damaged(
          "a structure needs %,d more bytes, it has %,d".formatted(count, bytes.remaining()));
    }
  }

  int remaining() {
    return bytes.remaining();
  }

  int position() {
    return bytes.position();
  }

  int u8() {
    require(1);
    return bytes.get() & 0xFF;
  }

  int u16() {
    return (int) unsigned(Short.BYTES);
  }

  long u32() {
    return unsigned(Integer.BYTES);
  }

  /** {@return an integer of 1 to 8 bytes; negative if it is 2^63 or more} */
  long unsigned(int count) {
    require(count);
    long value = 0;
    for (int i = 0; i < count; i++) {
      value |= (bytes.get() & 0xFFL) << (Byte.SIZE * i);
    }
    return value;
  }

  /** {@return an address, relative to the base address; {@link #UNDEFINED} if there is none} */
  long address() {
    return defined(offsetBytes);
  }

  /** {@return a length; {@link #UNDEFINED} if all its bits are set} */
  long length() {
    return defined(lengthBytes);
  }

  private long defined(int count) {
    long value = unsigned(count);
    return value == (-1L >>> (Long.SIZE - Byte.SIZE * count)) ? UNDEFINED : value;
  }

  Cursor skip(long count) {
    require(count);
    bytes.position(bytes.position() + (int) count);
    return this;
  }

  /** Goes to a position in the structure. */
  Cursor seek(long position) {
    bytes.position(0);
    return skip(position);
  }

  /** Skips to a multiple of 8 bytes after a start, without leaving the structure. */
  void align(int start) {
    int used = bytes.position() - start;
    skip(Math.min(-used & 7, bytes.remaining()));
  }

  byte[] take(long count) {
    require(count);
    byte[] taken = new byte[(int) count];
    bytes.get(taken);
    return taken;
  }

  /** {@return the next bytes as a structure of its own, which this one skips} */
  Cursor part(long count) {
    require(count);
    ByteBuffer part = bytes.slice(bytes.position(), (int) count).order(bytes.order());
    bytes.position(bytes.position() + (int) count);
    return new Cursor(part, offsetBytes, lengthBytes);
  }

  /** {@return the text before the next zero byte, which is skipped} */
  String terminated() {
    int end = bytes.position();
    while (end < bytes.limit() && bytes.get(end) != 0) {
      end++;
    }
    if (end == bytes.limit()) {
      throw Hdf5Exception.damaged("a name has no end");
    }
    String text = new String(take(end - bytes.position()), StandardCharsets.UTF_8);
    skip(1);
    return text;
  }

  /** Checks the four letters at the beginning of a structure. */
  Cursor signature(String expected) {
    String found = new String(take(expected.length()), StandardCharsets.ISO_8859_1);
    if (!found.equals(expected)) {
      throw Hdf5Exception.damaged("the signature %s is missing".formatted(expected));
    }
    return this;
  }

  /** Checks the version of a structure. */
  int version(String structure, int from, int to) {
    int version = u8();
    if (version < from || version > to) {
      throw Hdf5Exception.unsupported(
          "version %d of the %s".formatted(version, structure),
          "supported are %d to %d; the file is damaged, or needs a copy by an older HDF5"
              .formatted(from, to));
    }
    return version;
  }
}
