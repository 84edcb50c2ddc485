// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.xbean.asm9.ClassReader;

/**
 * The references of a class file to other classes, from its constant pool (Java Virtual Machine
 * Specification, section 4.4).
 */
final class ClassReferences {
  private static final int CLASS = 7;
  private static final int FIELD = 9;
  private static final int INTERFACE_METHOD = 11;

  private ClassReferences() {}

  /**
   * A member of a class, or a class alone.
   *
   * @param owner as class files write it, with slashes
   * @param name null for the class
   * @param descriptor null for the class
   */
  record Reference(String owner, String name, String descriptor) {
    boolean isMethod() {
      return descriptor != null && descriptor.startsWith("(");
    }
  }

  /** The references of a class file, arrays left out. */
  static Set<Reference> read(InputStream classFile) throws IOException {
    ClassReader file = new ClassReader(classFile);
    char[] buffer = new char[file.getMaxStringLength()];
    Set<Reference> found = new LinkedHashSet<>();
    for (int i = 1; i < file.getItemCount(); i++) {
      int at = file.getItem(i);
      int tag = at == 0 ? 0 : file.readByte(at - 1); // numbers of 8 bytes take two places
      if (tag == CLASS) {
        found.add(new Reference(file.readUTF8(at, buffer), null, null));
      } else if (tag >= FIELD && tag <= INTERFACE_METHOD) {
        int member = file.getItem(file.readUnsignedShort(at + 2));
        found.add(
            new Reference(
                file.readClass(at, buffer),
                file.readUTF8(member, buffer),
                file.readUTF8(member + 2, buffer)));
      }
    }
    found.removeIf(reference -> reference.owner().startsWith("["));
    return found;
  }
}
