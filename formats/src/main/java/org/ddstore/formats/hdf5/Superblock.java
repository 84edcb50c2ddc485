// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/** The beginning of a file: sizes of its fields, and the address of the root group. */
final class Superblock {
  private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
  private static final long FIRST_USER_BLOCK = 512;
  private static final int WIDEST_BYTES = 128;
  private static final int OPEN_FOR_WRITING = 1;
  private static final int CACHE_IMAGE = 0x18;
  private static final int DRIVER = 0x14;
  private static final String DRIVER_REMEDY = "copy the file by h5repack";

  private FileBytes bytes;
  private long root;

  private Superblock() {}

  FileBytes bytes() {
    return bytes;
  }

  /** {@return the address of the object header of the root group} */
  long root() {
    return root;
  }

  /** Reads the superblock; a file that is truncated is refused. */
  static Superblock read(InputFile input, InputFile.Content content) throws IOException {
    long base = find(input, content);
    ByteBuffer start =
        ByteBuffer.allocate((int) Math.min(WIDEST_BYTES, input.length() - base))
            .order(ByteOrder.LITTLE_ENDIAN);
    content.read(base, start);
    start.flip().position(SIGNATURE.length);
    int version = new Cursor(start, 0, 0).version("superblock", 0, 3);
    int sizes = version < 2 ? 13 : 9;
    start.position(Math.min(sizes, start.limit()));
    Cursor small = new Cursor(start, 0, 0);
    int offsetBytes = width("an address", small.u8());
    int lengthBytes = width("a length", small.u8());
    Superblock block = new Superblock();
    block.bytes = new FileBytes(input, content, base, offsetBytes, lengthBytes);
    start.position(0);
    Cursor fields = new Cursor(start, offsetBytes, lengthBytes);
    long end = version < 2 ? block.readOld(fields, version) : block.readNew(fields);
    if (end > input.length()) {
      throw new FormatException(
          input.path(),
          "truncated: the HDF5 header declares %,d bytes, the file has %,d: copy or write the file again"
              .formatted(end, input.length()));
    }
    return block;
  }

  /** Returns the position of the signature: 0, or behind a user block of 512 bytes or more. */
  private static long find(InputFile input, InputFile.Content content) throws IOException {
    ByteBuffer found = ByteBuffer.allocate(SIGNATURE.length);
    for (long at = 0; at <= input.length() - SIGNATURE.length; ) {
      content.read(at, found.clear());
      if (Arrays.equals(found.array(), SIGNATURE)) {
        return at;
      }
      at = at == 0 ? FIRST_USER_BLOCK : at * 2;
    }
    throw new FormatException(
        input.path(),
        input.length() == 0
            ? "the file is empty"
            : "not an HDF5 file: the signature \\x89HDF is missing");
  }

  private static int width(String what, int bytes) {
    if (bytes != 2 && bytes != 4 && bytes != 8) {
      throw Hdf5Exception.unsupported(
          "the size of %s, %d bytes,".formatted(what, bytes), "legal are 2, 4 and 8");
    }
    return bytes;
  }

  private long readOld(Cursor fields, int version) {
    fields.skip(version == 0 ? 24 : 28);
    fields.address(); // position of address 0, which is that of the signature
    fields.address(); // address of free space
    long end = fields.address();
    if (fields.address() != Cursor.UNDEFINED) {
      throw Hdf5Exception.unsupported("a file of several parts (multi driver)", DRIVER_REMEDY);
    }
    fields.address(); // name of the root
    root = fields.address();
    return end;
  }

  private long readNew(Cursor fields) throws IOException {
    int flags = fields.skip(11).u8();
    fields.address();
    long extension = fields.address();
    long end = fields.address();
    root = fields.address();
    bytes.checked("the superblock", 0, fields.position() + (long) FileBytes.CHECKSUM_BYTES);
    if ((flags & OPEN_FOR_WRITING) != 0) {
      throw Hdf5Exception.of(
          "the file is open for writing, or its writer has not closed it: close the writer, or call h5clear -s if it has ended");
    }
    if (extension != Cursor.UNDEFINED) {
      ObjectHeader header = ObjectHeader.read(bytes, extension);
      if (header.has(DRIVER)) {
        throw Hdf5Exception.unsupported("a file of several parts (family driver)", DRIVER_REMEDY);
      }
      if (header.has(CACHE_IMAGE)) {
        throw Hdf5Exception.unsupported("a metadata cache image", DRIVER_REMEDY);
      }
    }
    return end;
  }
}
