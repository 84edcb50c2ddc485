// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The string constants of a compiled class: the entries {@code CONSTANT_String} of its constant
 * pool (The Java Virtual Machine Specification, section 4.4).
 */
final class StringConstants {
  private static final int MAGIC = 0xCAFEBABE;
  private static final int UTF8 = 1;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int STRING = 8;

  private StringConstants() {}

  /** Returns the string constants of a class that was imported from a file or a jar. */
  static List<String> of(JavaClass type) {
    try (DataInputStream in =
        new DataInputStream(type.getSource().orElseThrow().getUri().toURL().openStream())) {
      return read(in);
    } catch (IOException e) {
      throw new UncheckedIOException("constants of " + type.getName(), e);
    }
  }

  private static List<String> read(DataInputStream in) throws IOException {
    if (in.readInt() != MAGIC) {
      throw new IOException("not a class file");
    }
    in.skipNBytes(2 * Short.BYTES); // version
    String[] texts = new String[in.readUnsignedShort()];
    List<Integer> strings = new ArrayList<>();
    for (int i = 1; i < texts.length; i++) {
      int tag = in.readUnsignedByte();
      if (tag == UTF8) {
        texts[i] = in.readUTF();
      } else if (tag == STRING) {
        strings.add(in.readUnsignedShort());
      } else {
        in.skipNBytes(bytes(tag));
        i += tag == LONG || tag == DOUBLE ? 1 : 0; // they take two entries
      }
    }
    return strings.stream().map(at -> texts[at]).toList();
  }

  /** Returns the size of an entry that is neither a text nor a string. */
  private static int bytes(int tag) throws IOException {
    return switch (tag) {
      case LONG, DOUBLE -> 8;
      case 3, 4, 9, 10, 11, 12, 17, 18 -> 4; // numbers of 4 bytes, references, name and type
      case 15 -> 3; // method handle
      case 7, 16, 19, 20 -> 2; // class, method type, module, package
      default -> throw new IOException("unknown tag %d in a constant pool".formatted(tag));
    };
  }
}
