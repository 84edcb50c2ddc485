// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

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
