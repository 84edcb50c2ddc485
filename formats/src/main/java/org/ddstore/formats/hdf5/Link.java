// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

/**
 * A link of a group.
 *
 * @param address object header, if the object is in this file
 * @param path path of the object if the link is soft or external; else null
 * @param file file of the object if the link is external; else null
 * @param unknownKind number of a kind that applications define; else 0
 */
record Link(long address, String path, String file, int unknownKind) {
  static Link hard(long address) {
    return new Link(address, null, null, 0);
  }

  static Link soft(String path) {
    return new Link(Cursor.UNDEFINED, path, null, 0);
  }

  static Link external(String file, String path) {
    return new Link(Cursor.UNDEFINED, path, file, 0);
  }

  static Link unknown(int kind) {
    return new Link(Cursor.UNDEFINED, null, null, kind);
  }

  boolean isExternal() {
    return file != null;
  }
}
