// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A class loader that loads classes of cells as an executor does: from the folder that the driver
 * serves, so that they share nothing with those of the driver.
 */
final class ImitatedExecutor extends ClassLoader {
  private final Path folder;

  ImitatedExecutor(Path folder) {
    super(ImitatedExecutor.class.getClassLoader());
    this.folder = folder;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    try {
      byte[] bytes = Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Sends a task here as Spark does, and runs it. */
  Object run(Object task, int rank) throws Exception {
    return ((Call<?>) copy(task)).run(rank);
  }

  private Object copy(Object task) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(task);
    }
    try (ObjectInputStream in = new Input(bytes.toByteArray())) {
      return in.readObject();
    }
  }

  private final class Input extends ObjectInputStream {
    Input(byte... bytes) throws IOException {
      super(new ByteArrayInputStream(bytes));
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass description)
        throws IOException, ClassNotFoundException {
      try {
        return Class.forName(description.getName(), false, ImitatedExecutor.this);
      } catch (ClassNotFoundException e) {
        return super.resolveClass(description); // a primitive type
      }
    }
  }
}
