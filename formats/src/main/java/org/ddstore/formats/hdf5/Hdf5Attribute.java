// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** The value of an attribute. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Hdf5Attribute(
    GlobalHeap heap, String name, Datatype type, Dataspace space, byte... content) {
  /** Returns the attribute of a message if it has a name; else null. */
  static Hdf5Attribute read(FileBytes bytes, GlobalHeap heap, Cursor message, String wanted)
      throws IOException {
    int version = message.version("attribute", 1, 3);
    int flags = message.u8();
    int nameBytes = message.u16();
    int typeBytes = message.u16();
    int spaceBytes = message.u16();
    message.skip(version == 3 ? 1 : 0);
    String name = padded(message, nameBytes, version).terminated();
    if (!name.equals(wanted)) {
      return null;
    }
    Cursor type = padded(message, typeBytes, version);
    Cursor space = padded(message, spaceBytes, version);
    boolean isShared = version > 1 && (flags & 1) != 0;
    if (version > 1 && (flags & 2) != 0) {
      space = ObjectHeader.shared(bytes, space, ObjectHeader.DATASPACE);
    }
    return new Hdf5Attribute(
        heap,
        name,
        Datatype.read(isShared ? ObjectHeader.shared(bytes, type, ObjectHeader.DATATYPE) : type),
        Dataspace.read(space),
        message.take(message.remaining()));
  }

  private static Cursor padded(Cursor message, int length, int version) {
    int start = message.position();
    Cursor part = message.part(length);
    if (version == 1) {
      message.align(start);
    }
    return part;
  }

  /** Returns the number of elements, all of which are in the message. */
  private int count() {
    long size = space.bytes(type.bytes());
    if (size > content.length) {
      throw Hdf5Exception.damaged(
          "attribute %s needs %,d bytes, it has %,d".formatted(name, size, content.length));
    }
    return (int) (size / type.bytes());
  }

  /** {@return the texts; a single value counts as a list; empty for other types} */
  Optional<List<String>> texts() throws IOException {
    int count = count();
    if (count == 0) {
      return Optional.of(List.of());
    }
    if (!type.isText()) {
      return Optional.empty();
    }
    return Optional.of(List.of(heap.texts("attribute " + name, type, count, content)));
  }

  /** {@return the integers of a list; empty for other types and single values} */
  Optional<long[]> integers() {
    int count = count();
    if (space.shape().length != 1 || type.isText()) {
      return Optional.empty();
    }
    Object values = type.element().decode(ByteBuffer.wrap(content).order(type.order()), count);
    long[] integers = new long[count];
    for (int i = 0; i < count; i++) {
      switch (type.element()) {
        case INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64 ->
            integers[i] = Array.getLong(values, i);
        default -> {
          return Optional.empty();
        }
      }
    }
    return Optional.of(integers);
  }
}
