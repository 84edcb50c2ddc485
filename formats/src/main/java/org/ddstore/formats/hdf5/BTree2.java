// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.function.ToIntFunction;

/** A B-tree of version 2: records of one size in their order. */
final class BTree2 {
  private static final int NODE_PREFIX_BYTES = 6;
  private static final String WHAT = "a B-tree";

  private final FileBytes bytes;
  private final int type;
  private final int recordBytes;
  private final int depth;
  private final int countBytes;

  /** Size of the total number of records in a child, by the depth below a node. */
  private final int[] totalBytes;

  private final Node root;
  private long visited;

  private record Node(long address, int records) {}

  @FunctionalInterface
  interface Visitor {
    void visit(Cursor entry) throws IOException;
  }

  private BTree2(FileBytes bytes, long address) throws IOException {
    this.bytes = bytes;
    int size = 22 + bytes.offsetBytes() + bytes.lengthBytes();
    Cursor header = bytes.checked(WHAT, address, size).signature("BTHD");
    header.version(WHAT, 0, 0);
    this.type = header.u8();
    long nodeBytes = header.u32();
    this.recordBytes = header.u16();
    this.depth = header.u16();
    header.skip(2);
    this.root = new Node(header.address(), header.u16());
    if (recordBytes == 0 || nodeBytes > bytes.length() || depth > Byte.SIZE * Long.BYTES) {
      throw Hdf5Exception.damaged(
          "%s has records of %d bytes, nodes of %,d bytes and %d levels"
              .formatted(WHAT, recordBytes, nodeBytes, depth));
    }
    long maxRecords = (nodeBytes - NODE_PREFIX_BYTES - FileBytes.CHECKSUM_BYTES) / recordBytes;
    this.countBytes = sizeOf(maxRecords);
    this.totalBytes = new int[depth + 1];
    long total = maxRecords;
    for (int level = 1; level <= depth; level++) {
      int pointer = bytes.offsetBytes() + countBytes + totalBytes[level - 1];
      maxRecords =
          (nodeBytes - NODE_PREFIX_BYTES - FileBytes.CHECKSUM_BYTES - pointer)
              / (recordBytes + pointer);
      total = (maxRecords + 1) * total + maxRecords;
      totalBytes[level] = sizeOf(total);
    }
  }

  /** Opens a B-tree, whose records must be of a type. */
  static BTree2 open(FileBytes bytes, long address, int type) throws IOException {
    BTree2 tree = new BTree2(bytes, address);
    if (tree.type != type) {
      throw Hdf5Exception.damaged(
          "%s has records of type %d instead of %d".formatted(WHAT, tree.type, type));
    }
    return tree;
  }

  /** Returns the number of bytes that numbers up to a maximum need. */
  private static int sizeOf(long maximum) {
    return Cursor.log2(Math.max(1, maximum)) / Byte.SIZE + 1;
  }

  int recordBytes() {
    return recordBytes;
  }

  private Cursor node(Node node, int level) throws IOException {
    long size = NODE_PREFIX_BYTES + (long) node.records * recordBytes + FileBytes.CHECKSUM_BYTES;
    if (level > 0) {
      size += (node.records + 1L) * pointerBytes(level);
    }
    Cursor content = bytes.checked(WHAT, node.address, size);
    content.signature(level == 0 ? "BTLF" : "BTIN").version(WHAT, 0, 0);
    content.u8();
    return content;
  }

  private int pointerBytes(int level) {
    return bytes.offsetBytes() + countBytes + totalBytes[level - 1];
  }

  private Node child(Cursor node, int records, int level, int index) {
    Cursor pointers = node.skip((long) records * recordBytes + (long) index * pointerBytes(level));
    return new Node(pointers.address(), (int) pointers.unsigned(countBytes));
  }

  /** Visits all records; not in their order. */
  void forEach(Visitor visitor) throws IOException {
    if (root.records > 0) {
      forEach(root, depth, visitor);
    }
  }

  private void forEach(Node node, int level, Visitor visitor) throws IOException {
    visited += Math.max(1, node.records);
    if (visited > bytes.length() / recordBytes) {
      throw Hdf5Exception.damaged("%s has more records than the file can hold".formatted(WHAT));
    }
    Cursor content = node(node, level);
    for (int i = 0; i < node.records; i++) {
      visitor.visit(content.part(recordBytes));
    }
    for (int i = 0; level > 0 && i <= node.records; i++) {
      Node child = new Node(content.address(), (int) content.unsigned(countBytes));
      content.skip(totalBytes[level - 1]);
      forEach(child, level - 1, visitor);
    }
  }

  /**
   * {@return the record that equals a key; null if there is none}
   *
   * @param order comparison of the key with a record: negative if the key is smaller
   */
  Cursor find(ToIntFunction<Cursor> order) throws IOException {
    Node node = root;
    for (int level = depth; node.records > 0 && level >= 0; level--) {
      Cursor content = node(node, level);
      int index = 0;
      while (index < node.records) {
        Cursor found = content.part(recordBytes);
        int compared = order.applyAsInt(found);
        found.seek(0);
        if (compared == 0) {
          return found;
        }
        if (compared < 0) {
          break;
        }
        index++;
      }
      if (level > 0) {
        node = child(content.seek(NODE_PREFIX_BYTES), node.records, level, index);
      }
    }
    return null;
  }
}
