// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import org.ddstore.types.RejectedArgumentException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Uses of cell variables that cannot work on executors, where the variables have no values. They
 * throw a {@link RejectedArgumentException}, after which a job is not submitted again.
 */
final class IllegalUses {
  private static final String EXCEPTION = Type.getInternalName(RejectedArgumentException.class);

  /** Begin of the names of the methods that throw. */
  static final String NAME = "$unavailable$";

  private static final int ACCESS =
      Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;

  private IllegalUses() {}

  /** Returns a call that throws before a lambda that assigns a variable is created. */
  static AbstractInsnNode creation(ClassNode owner, CellVariable assigned) {
    return call(
        owner,
        "()V",
        "the lambda assigns variable \"%s\", which executors cannot change: return the value as a result, or use an accumulator of Spark"
            .formatted(assigned.name()));
  }

  /** Replaces every use of a variable in the copy of a class for executors. */
  static void replace(ClassNode owner) {
    for (MethodNode method : owner.methods.toArray(new MethodNode[0])) {
      String place = place(owner, method);
      for (AbstractInsnNode instruction : method.instructions.toArray()) {
        if (CellVariable.isRead(instruction)) {
          FieldInsnNode field = (FieldInsnNode) instruction;
          String message =
              "variable \"%s\" has no value on executors, and %s reads it there: pass the value as a parameter"
                  .formatted(field.name, place);
          method.instructions.set(instruction, call(owner, "()" + field.desc, message));
        } else if (CellVariable.isWrite(instruction)) {
          FieldInsnNode field = (FieldInsnNode) instruction;
          String message =
              "variable \"%s\" cannot be assigned on executors, where %s assigns it: return the value as a result"
                  .formatted(field.name, place);
          method.instructions.set(instruction, call(owner, "(" + field.desc + ")V", message));
        }
      }
    }
  }

  private static AbstractInsnNode call(ClassNode owner, String descriptor, String message) {
    MethodNode thrower =
        new MethodNode(
            Opcodes.ASM9, ACCESS, NAME + owner.methods.size(), descriptor, null, new String[0]);
    thrower.visitTypeInsn(Opcodes.NEW, EXCEPTION);
    thrower.visitInsn(Opcodes.DUP);
    thrower.visitLdcInsn(message);
    thrower.visitMethodInsn(
        Opcodes.INVOKESPECIAL, EXCEPTION, "<init>", "(Ljava/lang/String;)V", false);
    thrower.visitInsn(Opcodes.ATHROW);
    owner.methods.add(thrower);
    boolean isInterface = (owner.access & Opcodes.ACC_INTERFACE) != 0;
    return new MethodInsnNode(
        Opcodes.INVOKESTATIC, owner.name, thrower.name, descriptor, isInterface);
  }

  /** Names a method for a message, as its user has written it. */
  private static String place(ClassNode owner, MethodNode method) {
    String type = typeName(owner);
    String name = CellNames.method(method.name);
    return switch (name) {
      case "" -> type.isEmpty() ? "a lambda" : "a lambda of " + type;
      case "<init>" -> "the constructor of " + type;
      case "<clinit>" -> "the initializer of " + type;
      default -> "method \"%s\"%s".formatted(name, type.isEmpty() ? "" : " of " + type);
    };
  }

  private static String typeName(ClassNode owner) {
    String type = CellNames.type(owner.name);
    boolean isAnonymous = type.matches("(.*\\.)?\\d+");
    return isAnonymous ? "an anonymous class" : type;
  }
}
