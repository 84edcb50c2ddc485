// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The messages that describe a group, a data set or a committed type. */
final class ObjectHeader {
  static final int DATASPACE = 0x01;
  static final int LINK_INFO = 0x02;
  static final int DATATYPE = 0x03;
  static final int OLD_FILL = 0x04;
  static final int FILL = 0x05;
  static final int LINK = 0x06;
  static final int EXTERNAL_FILES = 0x07;
  static final int LAYOUT = 0x08;
  static final int GROUP_INFO = 0x0A;
  static final int FILTERS = 0x0B;
  static final int ATTRIBUTE = 0x0C;
  static final int SYMBOL_TABLE = 0x11;
  static final int ATTRIBUTE_INFO = 0x15;

  private static final int CONTINUATION = 0x10;
  private static final int LAST_KNOWN = 0x18;
  private static final int SHARED = 1 << 1;
  private static final int FAIL_IF_UNKNOWN = 1 << 7;
  private static final String NEW = "OHDR";

  /** A message has at most 64 KiB; larger attributes are not in the header. */
  private static final int MAX_BYTES = 1 << 20;

  private static final String WHAT = "an object header";

  private final FileBytes bytes;
  private final List<Message> messages = new ArrayList<>();
  private final Deque<long[]> blocks = new ArrayDeque<>();
  private long read;

  private record Message(int type, int flags, Cursor content) {}

  private ObjectHeader(FileBytes bytes) {
    this.bytes = bytes;
  }

  static ObjectHeader read(FileBytes bytes, long address) throws IOException {
    ObjectHeader header = new ObjectHeader(bytes);
    boolean isOld = bytes.at(WHAT, address, 1).u8() == 1;
    if (isOld) {
      header.readOld(address);
    } else {
      header.readNew(address);
    }
    return header;
  }

  private void readOld(long address) throws IOException {
    Cursor prefix = bytes.at(WHAT, address, 16).skip(2);
    int count = prefix.u16();
    blocks.add(new long[] {address + 16, prefix.skip(4).u32()});
    while (!blocks.isEmpty() && count > 0) {
      long[] block = nextBlock();
      Cursor content = bytes.at(WHAT, block[0], block[1]);
      while (content.remaining() >= 8 && count > 0) {
        int type = content.u16();
        int length = content.u16();
        int flags = content.u8();
        add(type, flags, content.skip(3).part(length));
        count--;
      }
    }
  }

  private void readNew(long address) throws IOException {
    Cursor prefix = bytes.at(WHAT, address, Math.min(34, bytes.length() - address));
    prefix.signature(NEW);
    prefix.version("object header", 2, 2);
    int flags = prefix.u8();
    prefix.skip((flags & 1 << 5) == 0 ? 0 : 16);
    prefix.skip((flags & 1 << 4) == 0 ? 0 : 4);
    long length = prefix.unsigned(1 << (flags & 3));
    int start = prefix.position();
    boolean isOrdered = (flags & 1 << 2) != 0;
    Cursor first = bytes.checked(WHAT, address, sum(start, length));
    addAll(first.skip(start), isOrdered);
    while (!blocks.isEmpty()) {
      long[] block = nextBlock();
      addAll(bytes.checked(WHAT, block[0], block[1]).signature("OCHK"), isOrdered);
    }
  }

  private static long sum(int start, long length) {
    if (length < 0 || length > MAX_BYTES) {
      throw Hdf5Exception.damaged("an object header has %,d bytes".formatted(length));
    }
    return start + length + FileBytes.CHECKSUM_BYTES;
  }

  private void addAll(Cursor content, boolean isOrdered) throws IOException {
    int prefix = isOrdered ? 6 : 4;
    while (content.remaining() >= prefix) {
      int type = content.u8();
      int length = content.u16();
      int flags = content.u8();
      add(type, flags, content.skip(prefix - 4).part(length));
    }
  }

  /** Returns the next block; blocks that lead back would go on for ever. */
  private long[] nextBlock() {
    long[] block = blocks.remove();
    read += Math.max(1, block[1]);
    if (block[1] < 0 || read > MAX_BYTES) {
      throw Hdf5Exception.damaged(
          "the blocks of an object header have more than %,d bytes".formatted(MAX_BYTES));
    }
    return block;
  }

  private void add(int type, int flags, Cursor content) {
    if (type == CONTINUATION) {
      blocks.add(new long[] {content.address(), content.length()});
    } else if (type > LAST_KNOWN && (flags & FAIL_IF_UNKNOWN) != 0) {
      throw Hdf5Exception.unsupported(
          "message 0x%02x".formatted(type), "copy the file by an older HDF5");
    } else {
      messages.add(new Message(type, flags, content));
    }
  }

  boolean has(int type) {
    return messages.stream().anyMatch(message -> message.type == type);
  }

  /** {@return the content of the first message of a type; null if there is none} */
  Cursor message(int type) throws IOException {
    for (Message message : messages) {
      if (message.type == type) {
        return content(message);
      }
    }
    return null;
  }

  /** {@return the content of the messages of a type} */
  List<Cursor> messages(int type) throws IOException {
    List<Cursor> found = new ArrayList<>();
    for (Message message : messages) {
      if (message.type == type) {
        found.add(content(message));
      }
    }
    return found;
  }

  private Cursor content(Message message) throws IOException {
    Cursor content = message.content.part(message.content.remaining());
    message.content.seek(0);
    return (message.flags & SHARED) == 0 ? content : shared(bytes, content, message.type);
  }

  /** Returns the message to which the content of another one refers. */
  static Cursor shared(FileBytes bytes, Cursor reference, int type) throws IOException {
    int version = reference.version("shared message", 1, 3);
    int kind = reference.u8();
    if (version == 3 && kind == 1) {
      throw Hdf5Exception.unsupported("a message in the shared heap", "copy the file by h5repack");
    }
    reference.skip(version == 1 ? 6 : 0);
    ObjectHeader owner = read(bytes, reference.address());
    for (Message message : owner.messages) {
      if (message.type == type && (message.flags & SHARED) == 0) {
        return owner.content(message);
      }
    }
    throw Hdf5Exception.damaged("a shared message is missing");
  }
}
