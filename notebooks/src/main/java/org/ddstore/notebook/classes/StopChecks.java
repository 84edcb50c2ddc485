// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Calls of {@link CellStop#check()} at the beginning of methods and before jumps back: code of
 * cells ends after an interrupt, even if it never waits. JDK 20 and newer have no {@code
 * Thread.stop}.
 */
final class StopChecks {
  private StopChecks() {}

  static void insert(ClassNode owner) {
    for (MethodNode method : owner.methods) {
      // An error in an initializer would make the class unusable.
      if (method.instructions.size() > 0 && !method.name.equals("<clinit>")) {
        insert(method);
      }
    }
  }

  private static void insert(MethodNode method) {
    Set<LabelNode> passed = new HashSet<>();
    for (AbstractInsnNode instruction : method.instructions.toArray()) {
      if (instruction instanceof LabelNode label) {
        passed.add(label);
      } else if (instruction instanceof JumpInsnNode jump && passed.contains(jump.label)) {
        method.instructions.insertBefore(jump, check());
      }
    }
    method.instructions.insert(check());
  }

  private static MethodInsnNode check() {
    return new MethodInsnNode(
        Opcodes.INVOKESTATIC, Type.getInternalName(CellStop.class), "check", "()V", false);
  }
}
