// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.Map;

/** A group or a data set. */
final class Hdf5Object {
  private static final int ATTRIBUTE_RECORDS = 8;
  private static final int SHARED = 1 << 1;

  private final Hdf5File file;
  private final ObjectHeader header;
  private Map<String, Link> links;

  Hdf5Object(Hdf5File file, long address) throws IOException {
    this.file = file;
    this.header = ObjectHeader.read(file.bytes(), address);
  }

  /** {@return the file that contains the object} */
  Hdf5File file() {
    return file;
  }

  FileBytes bytes() {
    return file.bytes();
  }

  GlobalHeap heap() {
    return file.heap();
  }

  ObjectHeader header() {
    return header;
  }

  boolean isGroup() {
    return GroupLinks.isGroup(header);
  }

  boolean isDataset() {
    return header.has(ObjectHeader.LAYOUT) || header.has(ObjectHeader.EXTERNAL_FILES);
  }

  /** {@return the links of a group by their names, ordered} */
  Map<String, Link> links() throws IOException {
    if (links == null) {
      links = GroupLinks.read(bytes(), header);
    }
    return links;
  }

  /** {@return an attribute; null if there is none} */
  Hdf5Attribute attribute(String name) throws IOException {
    for (Cursor message : header.messages(ObjectHeader.ATTRIBUTE)) {
      Hdf5Attribute attribute = Hdf5Attribute.read(bytes(), heap(), message, name);
      if (attribute != null) {
        return attribute;
      }
    }
    Cursor info = header.message(ObjectHeader.ATTRIBUTE_INFO);
    if (info == null) {
      return null;
    }
    info.version("attribute info", 0, 0);
    info.skip((info.u8() & 1) == 0 ? 0 : 2);
    long heap = info.address();
    long tree = info.address();
    return heap == Cursor.UNDEFINED ? null : attributeInHeap(heap, tree, name);
  }

  /** Returns one of many attributes, which are in a heap. */
  private Hdf5Attribute attributeInHeap(long heap, long tree, String name) throws IOException {
    FractalHeap objects = new FractalHeap(bytes(), heap);
    Hdf5Attribute[] found = new Hdf5Attribute[1];
    BTree2.open(bytes(), tree, ATTRIBUTE_RECORDS)
        .forEach(
            entry -> {
              Cursor id = entry.part(Long.BYTES);
              if ((entry.u8() & SHARED) != 0) {
                throw Hdf5Exception.unsupported(
                    "an attribute in the shared heap", "copy the file by h5repack");
              }
              Hdf5Attribute attribute =
                  Hdf5Attribute.read(bytes(), heap(), objects.object(id), name);
              found[0] = attribute == null ? found[0] : attribute;
            });
    return found[0];
  }
}
