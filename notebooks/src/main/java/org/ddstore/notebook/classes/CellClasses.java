// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jshell.spi.SPIResolutionException;

/**
 * The class loader of all cells on the driver. It also writes the executors' form of each class to
 * a folder that Spark serves. Thread-safe.
 */
public final class CellClasses extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  /** Code that JShell puts in place of a body with an unknown name throws it. */
  private static final String UNRESOLVED = SPIResolutionException.class.getName();

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

  /**
   * Returns the classes around snippets that code of a class can reach and that use a name that no
   * snippet declares. JShell lets such code throw.
   *
   * @param name binary name
   */
  public Set<String> unresolved(String name) {
    Set<String> unresolved = new TreeSet<>();
    Set<String> seen = new HashSet<>(Set.of(name));
    Deque<String> open = new ArrayDeque<>(seen);
    while (!open.isEmpty()) {
      String next = open.pop();
      byte[] compiled = known.get(next);
      for (String used : compiled == null ? Set.<String>of() : CellClass.used(compiled)) {
        if (used.equals(UNRESOLVED)) {
          unresolved.add(CellNames.snippetClass(next));
        } else if (CellNames.isOfCell(used) && seen.add(used)) {
          open.push(used);
        }
      }
    }
    return unresolved;
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
