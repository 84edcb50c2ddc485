// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;

/**
 * The bytes of a file by the addresses in it. Pages that were read last are kept. Parameters of the
 * name {@code what} say what is read, for messages.
 */
final class FileBytes {
  private static final int PAGE_BYTES = 1 << 14;
  private static final int PAGES = 64;

  /** Size of the checksum at the end of a structure. */
  static final int CHECKSUM_BYTES = 4;

  private final String file;
  private final InputFile.Content content;
  private final long fileBytes;
  private final long base;
  private final int offsetBytes;
  private final int lengthBytes;
  private final Map<Long, byte[]> pages = new RecentlyUsed<>(PAGES);

  /**
   * Creates a view of a file.
   *
   * @param base position of address 0
   * @param offsetBytes size of an address
   * @param lengthBytes size of a length
   */
  FileBytes(
      InputFile input, InputFile.Content content, long base, int offsetBytes, int lengthBytes) {
    this.file = input.path();
    this.content = content;
    this.fileBytes = input.length();
    this.base = base;
    this.offsetBytes = offsetBytes;
    this.lengthBytes = lengthBytes;
  }

  /** {@return the path of the file} */
  String file() {
    return file;
  }

  /** {@return the length of the file in bytes} */
  long length() {
    return fileBytes;
  }

  int offsetBytes() {
    return offsetBytes;
  }

  int lengthBytes() {
    return lengthBytes;
  }

  private void require(String what, long address, long count) {
    if (address < 0 || count < 0 || address > fileBytes - base - count) {
      String place =
          address == Cursor.UNDEFINED ? "an undefined address" : "%,d".formatted(address);
      throw Hdf5Exception.damaged(
          "%s at %s with %,d bytes is outside the file, which has %,d bytes"
              .formatted(what, place, count, fileBytes));
    }
  }

  /** Reads bytes until a buffer is full. */
  void read(String what, long address, ByteBuffer to) throws IOException {
    require(what, address, to.remaining());
    content.read(base + address, to);
  }

  /** Reads bytes that are held in memory. */
  byte[] bytes(String what, long address, long count) throws IOException {
    require(what, address, count);
    ReadBudget.requireHeld(file, what, count);
    byte[] bytes = new byte[Math.toIntExact(count)];
    if (count > PAGE_BYTES) {
      content.read(base + address, ByteBuffer.wrap(bytes));
      return bytes;
    }
    int copied = 0;
    while (copied < count) {
      long position = base + address + copied;
      byte[] page = page(position / PAGE_BYTES);
      int from = (int) (position % PAGE_BYTES);
      int length = (int) Math.min(count - copied, page.length - from);
      System.arraycopy(page, from, bytes, copied, length);
      copied += length;
    }
    return bytes;
  }

  private byte[] page(long number) throws IOException {
    byte[] page = pages.get(number);
    if (page == null) {
      long start = number * PAGE_BYTES;
      page = new byte[(int) Math.min(PAGE_BYTES, fileBytes - start)];
      content.read(start, ByteBuffer.wrap(page));
      pages.put(number, page);
    }
    return page;
  }

  /** {@return a cursor on bytes of a structure} */
  Cursor cursor(byte... bytes) {
    return new Cursor(
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), offsetBytes, lengthBytes);
  }

  /** {@return a cursor on a structure} */
  Cursor at(String what, long address, long count) throws IOException {
    return cursor(bytes(what, address, count));
  }

  /** Reads a structure of {@code count} bytes, compares the checksum at its end, and removes it. */
  Cursor checked(String what, long address, long count) throws IOException {
    byte[] bytes = bytes(what, address, count);
    int length = bytes.length - CHECKSUM_BYTES;
    long stored = cursor(bytes).skip(length).u32();
    int found = Lookup3.of(bytes, length);
    if ((int) stored != found) {
      throw Hdf5Exception.damaged(
          "the checksum of %s is %08x, stored is %08x".formatted(what, found, (int) stored));
    }
    return cursor(bytes).part(length);
  }
}
