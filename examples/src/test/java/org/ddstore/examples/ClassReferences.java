// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The references of a class file to other classes, from its constant pool (Java Virtual Machine
 * Specification, section 4.4).
 */
final class ClassReferences {
  private static final int MAGIC_AND_VERSION_BYTES = 8;

  private static final int UTF8 = 1;
  private static final int INTEGER = 3;
  private static final int FLOAT = 4;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int CLASS = 7;
  private static final int STRING = 8;
  private static final int FIELD = 9;
  private static final int METHOD = 10;
  private static final int INTERFACE_METHOD = 11;
  private static final int NAME_AND_TYPE = 12;
  private static final int METHOD_HANDLE = 15;
  private static final int METHOD_TYPE = 16;
  private static final int DYNAMIC = 17;
  private static final int INVOKE_DYNAMIC = 18;

  private final int[] tags;
  private final int[] first;
  private final int[] second;
  private final String[] texts;

  private ClassReferences(int size) {
    tags = new int[size];
    first = new int[size];
    second = new int[size];
    texts = new String[size];
  }

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
    DataInputStream in = new DataInputStream(classFile);
    in.skipNBytes(MAGIC_AND_VERSION_BYTES);
    ClassReferences pool = new ClassReferences(in.readUnsignedShort());
    for (int i = 1; i < pool.tags.length; i++) {
      pool.readEntry(in, i);
      if (pool.tags[i] == LONG || pool.tags[i] == DOUBLE) {
        i++; // they take two places
      }
    }
    return pool.references();
  }

  private void readEntry(DataInputStream in, int at) throws IOException {
    tags[at] = in.readUnsignedByte();
    switch (tags[at]) {
      case UTF8 -> texts[at] = in.readUTF();
      case INTEGER, FLOAT -> in.readInt();
      case LONG, DOUBLE -> in.readLong();
      case CLASS, STRING, METHOD_TYPE -> first[at] = in.readUnsignedShort();
      case FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, DYNAMIC, INVOKE_DYNAMIC -> {
        first[at] = in.readUnsignedShort();
        second[at] = in.readUnsignedShort();
      }
      case METHOD_HANDLE -> {
        first[at] = in.readUnsignedByte();
        second[at] = in.readUnsignedShort();
      }
      default -> throw new IOException("constant of unknown kind " + tags[at]);
    }
  }

  private Set<Reference> references() {
    Set<Reference> found = new LinkedHashSet<>();
    for (int i = 1; i < tags.length; i++) {
      if (tags[i] == CLASS && !isArray(i)) {
        found.add(new Reference(className(i), null, null));
      } else if (tags[i] >= FIELD && tags[i] <= INTERFACE_METHOD && !isArray(first[i])) {
        int nameAndType = second[i];
        found.add(
            new Reference(
                className(first[i]), texts[first[nameAndType]], texts[second[nameAndType]]));
      }
    }
    return found;
  }

  private String className(int at) {
    return texts[first[at]];
  }

  private boolean isArray(int at) {
    return className(at).startsWith("[");
  }
}
