// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import org.ddstore.types.RejectedArgumentException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A variable of a cell, which JShell keeps as a static field of the class around its snippet.
 *
 * @param owner internal name of that class
 * @param name name of the variable
 * @param type type of the variable
 */
public record CellVariable(String owner, String name, Type type) {
  /** A field that the compiler adds to classes with assertions. */
  private static final String ASSERTIONS = "$assertionsDisabled";

  /** Returns the variable that an instruction reads or assigns, or null. */
  static CellVariable of(AbstractInsnNode instruction) {
    return instruction instanceof FieldInsnNode field
            && (field.getOpcode() == Opcodes.GETSTATIC || field.getOpcode() == Opcodes.PUTSTATIC)
            && CellNames.isSnippet(field.owner)
            && !field.name.equals(ASSERTIONS)
        ? new CellVariable(field.owner, field.name, Type.getType(field.desc))
        : null;
  }

  static boolean isRead(AbstractInsnNode instruction) {
    return instruction.getOpcode() == Opcodes.GETSTATIC && of(instruction) != null;
  }

  /** Returns an instruction that pushes the value. */
  AbstractInsnNode read() {
    return new FieldInsnNode(Opcodes.GETSTATIC, owner, name, type.getDescriptor());
  }

  /** Returns the type in a stack map frame. */
  Object frameType() {
    return switch (type.getSort()) {
      case Type.BOOLEAN, Type.BYTE, Type.CHAR, Type.SHORT, Type.INT -> Opcodes.INTEGER;
      case Type.FLOAT -> Opcodes.FLOAT;
      case Type.LONG -> Opcodes.LONG;
      case Type.DOUBLE -> Opcodes.DOUBLE;
      default -> type.getInternalName();
    };
  }

  /** Makes each use of a variable that is left in the executors' form of a class throw. */
  static void refuseUses(ClassNode owner) {
    for (MethodNode method : owner.methods) {
      for (AbstractInsnNode instruction : method.instructions.toArray()) {
        CellVariable variable = of(instruction);
        if (variable != null) {
          InsnList call = new InsnList();
          call.add(new LdcInsnNode(variable.name));
          call.add(
              new MethodInsnNode(
                  Opcodes.INVOKESTATIC,
                  Type.getInternalName(CellVariable.class),
                  "refuse",
                  "(Ljava/lang/String;)V",
                  false));
          method.instructions.insertBefore(instruction, call);
        }
      }
    }
  }

  /**
   * Called on executors in place of a use of a variable, which has no value there.
   *
   * @throws RejectedArgumentException always; a job is not submitted again after it
   */
  @SuppressWarnings("DoNotCallSuggester") // the code of cells calls it
  public static void refuse(String name) {
    throw new RejectedArgumentException(
        "variable \"%s\" of a cell is not available on executors: pass its value as a parameter, and return what changes as a result"
            .formatted(name));
  }
}
