// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.regex.Pattern;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;

/**
 * A variable of a cell, which JShell keeps as a static field of the class around its snippet.
 *
 * @param owner internal name of that class
 * @param name name of the variable
 * @param descriptor type of the variable
 */
record CellVariable(String owner, String name, String descriptor) {
  /**
   * Internal name of a class around a snippet; classes that a snippet declares are nested in it.
   */
  private static final Pattern SNIPPET = Pattern.compile("REPL/\\$JShell\\$\\w+");

  /** A field that the compiler adds to classes with assertions. */
  private static final String ASSERTIONS = "$assertionsDisabled";

  /** Returns whether an instruction reads a variable of a cell. */
  static boolean isRead(AbstractInsnNode instruction) {
    return instruction.getOpcode() == Opcodes.GETSTATIC && isVariable((FieldInsnNode) instruction);
  }

  /** Returns whether an instruction assigns a variable of a cell. */
  static boolean isWrite(AbstractInsnNode instruction) {
    return instruction.getOpcode() == Opcodes.PUTSTATIC && isVariable((FieldInsnNode) instruction);
  }

  private static boolean isVariable(FieldInsnNode field) {
    return SNIPPET.matcher(field.owner).matches() && !field.name.equals(ASSERTIONS);
  }

  static CellVariable of(FieldInsnNode field) {
    return new CellVariable(field.owner, field.name, field.desc);
  }

  Type type() {
    return Type.getType(descriptor);
  }

  /** Returns the type in a stack map frame. */
  Object frameType() {
    return switch (type().getSort()) {
      case Type.BOOLEAN, Type.BYTE, Type.CHAR, Type.SHORT, Type.INT -> Opcodes.INTEGER;
      case Type.FLOAT -> Opcodes.FLOAT;
      case Type.LONG -> Opcodes.LONG;
      case Type.DOUBLE -> Opcodes.DOUBLE;
      default -> type().getInternalName();
    };
  }
}
