// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The links in a group, by their names. */
final class GroupLinks {
  private static final int LINK_RECORDS = 5;
  private static final int SOFT_ENTRY = 2;
  private static final int ENTRY_SCRATCH_BYTES = 16;
  private static final String NODE = "a list of links";

  private final FileBytes bytes;
  private final Map<String, Link> links = new TreeMap<>();
  private final Set<Long> visited = new HashSet<>();

  /** Data of the local heap, which holds the names of a group in the old form. */
  private long names;

  private long namesBytes;
  private long usedBytes;

  private GroupLinks(FileBytes bytes) {
    this.bytes = bytes;
  }

  /** Returns whether an object is a group. */
  static boolean isGroup(ObjectHeader header) {
    return header.has(ObjectHeader.SYMBOL_TABLE)
        || header.has(ObjectHeader.LINK_INFO)
        || header.has(ObjectHeader.GROUP_INFO);
  }

  static Map<String, Link> read(FileBytes bytes, ObjectHeader header) throws IOException {
    GroupLinks group = new GroupLinks(bytes);
    Cursor table = header.message(ObjectHeader.SYMBOL_TABLE);
    if (table != null) {
      group.readTable(table.address(), table.address());
    }
    for (Cursor link : header.messages(ObjectHeader.LINK)) {
      group.add(link);
    }
    Cursor info = header.message(ObjectHeader.LINK_INFO);
    if (info != null) {
      info.version("link info", 0, 0);
      info.skip((info.u8() & 1) == 0 ? 0 : 8);
      long heap = info.address();
      long tree = info.address();
      if (heap != Cursor.UNDEFINED) {
        FractalHeap objects = new FractalHeap(bytes, heap);
        BTree2.open(bytes, tree, LINK_RECORDS)
            .forEach(entry -> group.add(objects.object(entry.skip(4))));
      }
    }
    return group.links;
  }

  private void add(Cursor message) {
    message.version("link", 1, 1);
    int flags = message.u8();
    int kind = (flags & 1 << 3) == 0 ? 0 : message.u8();
    message.skip((flags & 1 << 2) == 0 ? 0 : 8);
    message.skip((flags & 1 << 4) == 0 ? 0 : 1);
    String name = text(message.take(message.unsigned(1 << (flags & 3))));
    links.put(
        name,
        switch (kind) {
          case 0 -> Link.hard(message.address());
          case 1 -> Link.soft(text(message.take(message.u16())));
          case 64 -> {
            Cursor target = message.part(message.u16()).skip(1);
            yield Link.external(target.terminated(), target.terminated());
          }
          default -> Link.unknown(kind);
        });
  }

  private static String text(byte... name) {
    return new String(name, StandardCharsets.UTF_8);
  }

  private void readTable(long tree, long heap) throws IOException {
    int size = 8 + 2 * bytes.lengthBytes() + bytes.offsetBytes();
    Cursor header = bytes.at("a local heap", heap, size).signature("HEAP");
    header.skip(4);
    namesBytes = header.length();
    header.length();
    names = header.address();
    readNode(tree, Byte.MAX_VALUE);
  }

  private void requireNew(long address) {
    if (!visited.add(address)) {
      throw Hdf5Exception.damaged("%s leads back to itself".formatted(NODE));
    }
  }

  private void readNode(long address, int maxLevel) throws IOException {
    requireNew(address);
    int header = 8 + 2 * bytes.offsetBytes();
    Cursor prefix = bytes.at(NODE, address, header).signature("TREE").skip(1);
    int level = prefix.u8();
    int count = prefix.u16();
    if (level > maxLevel) {
      throw Hdf5Exception.damaged("%s has a node of level %d".formatted(NODE, level));
    }
    int entryBytes = bytes.lengthBytes() + bytes.offsetBytes();
    Cursor entries = bytes.at(NODE, address + header, (long) count * entryBytes);
    for (int i = 0; i < count; i++) {
      entries.length();
      long child = entries.address();
      if (level > 0) {
        readNode(child, level - 1);
      } else {
        readSymbols(child);
      }
    }
  }

  private void readSymbols(long address) throws IOException {
    requireNew(address);
    int count = bytes.at(NODE, address, 8).signature("SNOD").skip(2).u16();
    int entryBytes = 2 * bytes.offsetBytes() + 8 + ENTRY_SCRATCH_BYTES;
    Cursor entries = bytes.at(NODE, address + 8, (long) count * entryBytes);
    for (int i = 0; i < count; i++) {
      long name = entries.address();
      long target = entries.address();
      boolean isSoft = entries.u32() == SOFT_ENTRY;
      Cursor scratch = entries.skip(4).part(ENTRY_SCRATCH_BYTES);
      links.put(name(name), isSoft ? Link.soft(name(scratch.u32())) : Link.hard(target));
    }
  }

  /** Returns a text of the local heap. Each link has its own, so all together fit into it. */
  private String name(long offset) throws IOException {
    if (offset < 0 || offset >= namesBytes) {
      throw Hdf5Exception.damaged("the name of a link is outside its heap");
    }
    int step = 64;
    for (long length = step; ; length *= 2) {
      long readable = Math.min(length, namesBytes - offset);
      byte[] content = bytes.bytes("the name of a link", names + offset, readable);
      int end = 0;
      while (end < content.length && content[end] != 0) {
        end++;
      }
      if (end < content.length) {
        usedBytes += end + 1;
        if (usedBytes > namesBytes) {
          throw Hdf5Exception.damaged("the names of links are larger than their heap");
        }
        return new String(content, 0, end, StandardCharsets.UTF_8);
      }
      if (readable < length) {
        throw Hdf5Exception.damaged("the name of a link has no end");
      }
    }
  }
}
