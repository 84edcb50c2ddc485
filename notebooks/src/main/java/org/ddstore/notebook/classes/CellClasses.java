// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The class loader of all cells on the driver. It also writes the executors' form of each class to
 * a folder that Spark serves. Thread-safe.
 */
public final class CellClasses extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final Path folder;
  private final Map<String, byte[]> undefined = new ConcurrentHashMap<>();

  /** The compiled classes without numbers of lines. */
  private final Map<String, byte[]> known = new ConcurrentHashMap<>();

  /**
   * Creates a loader without classes.
   *
   * @param folder folder for the executors' form of the classes; the caller deletes it
   */
  public CellClasses(ClassLoader parent, Path folder) {
    super("cells", parent);
    this.folder = folder;
  }

  /** Returns the folder that executors load classes from. */
  public Path folder() {
    return folder;
  }

  /**
   * Adds a compiled class. Executors can load it from then on.
   *
   * @param name binary name
   */
  public void add(String name, byte[] compiled) throws IOException {
    CellClass forms = CellClass.of(name, compiled);
    Path file = folder.resolve(name.replace('.', '/') + ".class");
    Files.createDirectories(file.getParent());
    Files.write(file, forms.executor());
    undefined.put(name, forms.driver());
    known.put(name, CellClass.withoutLines(compiled));
  }

  /**
   * Returns whether a class was added with the same code. JShell compiles all classes again after
   * an import, which moves their lines.
   */
  public boolean isKnown(String name, byte[] compiled) {
    return Arrays.equals(known.get(name), CellClass.withoutLines(compiled));
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = undefined.remove(name);
    if (bytes == null) {
      throw new ClassNotFoundException(name);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }
}
