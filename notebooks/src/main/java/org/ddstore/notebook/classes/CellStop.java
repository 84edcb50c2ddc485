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
 * A flag that stops the code of all cells of this JVM: they check it at the beginning of methods
 * and before jumps back. JDK 20 and newer have no {@code Thread.stop}. Thread-safe.
 */
public final class CellStop {
  private static volatile boolean requested;

  private CellStop() {}

  /** Makes every {@link #check()} throw, in all threads, until {@link #clear()}. */
  public static void request() {
    requested = true;
  }

  public static void clear() {
    requested = false;
  }

  public static boolean isRequested() {
    return requested;
  }

  /**
   * Called by the code of cells.
   *
   * @throws StoppedError if the code has to stop
   */
  public static void check() {
    if (requested) {
      throw new StoppedError();
    }
  }

  /** Ends the code of a cell; an error, because code catches exceptions more often. */
  public static final class StoppedError extends Error {
    private static final long serialVersionUID = 1L;

    private StoppedError() {
      super("interrupted");
    }
  }

  /** Adds the checks to a class of a cell. */
  static void insertChecks(ClassNode owner) {
    for (MethodNode method : owner.methods) {
      // An error in an initializer would make the class unusable.
      if (method.instructions.size() > 0 && !method.name.equals("<clinit>")) {
        insertChecks(method);
      }
    }
  }

  private static void insertChecks(MethodNode method) {
    Set<LabelNode> passed = new HashSet<>();
    for (AbstractInsnNode instruction : method.instructions.toArray()) {
      if (instruction instanceof LabelNode label) {
        passed.add(label);
      } else if (instruction instanceof JumpInsnNode jump && passed.contains(jump.label)) {
        method.instructions.insertBefore(jump, call());
      }
    }
    method.instructions.insert(call());
  }

  private static MethodInsnNode call() {
    return new MethodInsnNode(
        Opcodes.INVOKESTATIC, Type.getInternalName(CellStop.class), "check", "()V", false);
  }
}
