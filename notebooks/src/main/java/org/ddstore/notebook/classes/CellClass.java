// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;

/**
 * The two forms of a class of a cell.
 *
 * @param name binary name
 * @param driver bytes for the driver, where the code can be interrupted
 * @param executor bytes for executors, where uses of cell variables throw
 */
@SuppressWarnings("ArrayRecordComponent") // compared nowhere
public record CellClass(String name, byte[] driver, byte[] executor) {
  /** Tag of the name of a class in a class file, see JVMS 4.4. */
  private static final int CONSTANT_CLASS = 7;

  /** Makes the two forms of a compiled class. */
  public static CellClass of(String name, byte[] compiled) {
    ClassNode driver = withCaptures(compiled);
    StopChecks.insert(driver);
    ClassNode executor = withCaptures(compiled);
    IllegalUses.replace(executor);
    return new CellClass(name, write(driver), write(executor));
  }

  /** Returns bytes that are equal for classes that differ in numbers of lines only. */
  static byte[] withoutLines(byte[] compiled) {
    ClassWriter writer = new ClassWriter(0);
    new ClassReader(compiled).accept(writer, ClassReader.SKIP_DEBUG);
    return writer.toByteArray();
  }

  /** Returns the binary names of the classes that code uses. */
  static Set<String> used(byte[] compiled) {
    ClassReader reader = new ClassReader(compiled);
    char[] buffer = new char[reader.getMaxStringLength()];
    Set<String> used = new HashSet<>();
    for (int item = 1; item < reader.getItemCount(); item++) {
      int offset = reader.getItem(item);
      if (offset > 0 && reader.readByte(offset - 1) == CONSTANT_CLASS) {
        used.add(reader.readUTF8(offset, buffer).replace('/', '.'));
      }
    }
    return used;
  }

  private static ClassNode withCaptures(byte[] compiled) {
    ClassNode node = new ClassNode(Opcodes.ASM9);
    new ClassReader(compiled).accept(node, ClassReader.EXPAND_FRAMES);
    LambdaCaptures.rewrite(node);
    return node;
  }

  private static byte[] write(ClassNode node) {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    node.accept(writer);
    return writer.toByteArray();
  }
}
