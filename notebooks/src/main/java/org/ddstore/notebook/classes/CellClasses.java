// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import jdk.jshell.execution.LoaderDelegate;
import jdk.jshell.spi.ExecutionControl.ClassBytecodes;
import jdk.jshell.spi.ExecutionControl.ClassInstallException;
import jdk.jshell.spi.ExecutionControl.InternalException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;

/**
 * The class loader of all cells on the driver. It also writes the executors' form of each class to
 * a folder that Spark serves. Thread-safe.
 */
public final class CellClasses extends ClassLoader implements LoaderDelegate {
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

  /** Adds compiled classes. Executors can load them from then on. */
  @Override
  public void load(ClassBytecodes[] compiled) throws ClassInstallException {
    try {
      for (ClassBytecodes each : compiled) {
        Path file = folder.resolve(each.name().replace('.', '/') + ".class");
        Files.createDirectories(file.getParent());
        Files.write(file, form(each.bytecodes(), CellVariable::refuseUses));
        undefined.put(each.name(), form(each.bytecodes(), CellStop::insertChecks));
        known.put(each.name(), withoutLines(each.bytecodes()));
      }
    } catch (IOException e) {
      String problem = "cannot write classes for executors: " + e;
      throw new ClassInstallException(problem, new boolean[compiled.length]);
    }
  }

  /** Returns a form of a class whose lambdas capture the variables of cells that they read. */
  private static byte[] form(byte[] compiled, Consumer<ClassNode> change) {
    ClassNode node = new ClassNode(Opcodes.ASM9);
    new ClassReader(compiled).accept(node, ClassReader.EXPAND_FRAMES);
    LambdaCaptures.rewrite(node);
    change.accept(node);
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    node.accept(writer);
    return writer.toByteArray();
  }

  private static byte[] withoutLines(byte[] compiled) {
    ClassWriter writer = new ClassWriter(0);
    new ClassReader(compiled).accept(writer, ClassReader.SKIP_DEBUG);
    return writer.toByteArray();
  }

  /**
   * Returns whether a class was added with the same code. JShell compiles all classes again after
   * an import, which moves their lines.
   */
  public boolean isKnown(String name, byte[] compiled) {
    return Arrays.equals(known.get(name), withoutLines(compiled));
  }

  @Override
  public void classesRedefined(ClassBytecodes[] compiled) {} // they have not changed

  @Override
  public void addToClasspath(String path) throws InternalException {
    throw new InternalException("the class path is fixed: " + path);
  }

  @Override
  public Class<?> findClass(String name) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      byte[] bytes = undefined.remove(name);
      if (loaded == null && bytes == null) {
        throw new ClassNotFoundException(name);
      }
      return loaded == null ? defineClass(name, bytes, 0, bytes.length) : loaded;
    }
  }
}
