// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.formats.ReadBudget;

/** The texts of variable length of a file, in collections. The tables of some are kept. */
final class GlobalHeap {
  private static final int TABLES = 8;
  private static final int MAX_OBJECTS = 1 << 16;
  private static final int OBJECT_PREFIX_BYTES = 8;
  private static final String WHAT = "a heap of texts";

  private final FileBytes bytes;
  private final Map<Long, Map<Integer, long[]>> tables = new RecentlyUsed<>(TABLES);

  GlobalHeap(FileBytes bytes) {
    this.bytes = bytes;
  }

  /** {@return the texts of elements, which are in the heap if they are of variable length} */
  String[] texts(String object, Datatype type, int count, byte... elements) throws IOException {
    long heldBytes = count * ReadBudget.TEXT_BYTES;
    ReadBudget.requireHeld(bytes.file(), object, heldBytes);
    String[] texts = new String[count];
    for (int i = 0; i < count; i++) {
      int at = i * type.bytes();
      if (type.isVariableText()) {
        byte[] text = object(bytes.cursor(elements).skip(at));
        heldBytes += text.length;
        ReadBudget.requireHeld(bytes.file(), object, heldBytes);
        texts[i] = type.text(text, 0, text.length);
      } else {
        texts[i] = type.text(elements, at, type.bytes());
      }
    }
    return texts;
  }

  /** Returns the bytes of an object by its length, address of the collection and index in it. */
  private byte[] object(Cursor reference) throws IOException {
    long length = reference.u32();
    long collection = reference.address();
    int index = (int) reference.u32();
    if (length == 0) {
      return new byte[0];
    }
    Map<Integer, long[]> table = tables.get(collection);
    if (table == null) {
      table = table(collection);
      tables.put(collection, table);
    }
    long[] place = table.get(index);
    if (place == null || place[1] < length) {
      throw Hdf5Exception.damaged(
          "a text of %,d bytes is not in its heap at byte %,d".formatted(length, collection));
    }
    return bytes.bytes("a text", place[0], length);
  }

  /** Returns address and size of each object of a collection, by their indices. */
  private Map<Integer, long[]> table(long collection) throws IOException {
    int header = OBJECT_PREFIX_BYTES + bytes.lengthBytes();
    Cursor prefix = bytes.at(WHAT, collection, header).signature("GCOL");
    prefix.version(WHAT, 1, 1);
    long size = prefix.skip(3).length();
    if (size < 0 || size > bytes.length()) {
      throw Hdf5Exception.damaged("%s has %,d bytes".formatted(WHAT, size));
    }
    Map<Integer, long[]> table = new HashMap<>();
    long at = header;
    while (at <= size - header && table.size() < MAX_OBJECTS) {
      Cursor object = bytes.at(WHAT, collection + at, header);
      int index = object.u16();
      long length = object.skip(6).length();
      if (index == 0) { // free space, which is last
        break;
      }
      if (length < 0 || length > size - at - header) {
        throw Hdf5Exception.damaged("object %d of %s has %,d bytes".formatted(index, WHAT, length));
      }
      if (table.put(index, new long[] {collection + at + header, length}) != null) {
        throw Hdf5Exception.damaged("object %d of %s occurs twice".formatted(index, WHAT));
      }
      at += header + (length + 7) / 8 * 8;
    }
    return table;
  }
}
