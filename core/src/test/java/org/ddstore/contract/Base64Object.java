// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Base64;

/** Objects as one word of text, on their way to another JVM with the same classes. */
final class Base64Object {
  private Base64Object() {}

  static String encode(Object object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static Object decode(String word) throws IOException, ClassNotFoundException {
    byte[] bytes = Base64.getDecoder().decode(word);
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }
}
