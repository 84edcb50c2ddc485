// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * A copy of the method of a lambda whose reads of cell variables are reads of parameters. The new
 * parameters come after those of captured local variables, before those of the interface.
 */
final class LambdaBody {
  private static final String SUFFIX = "$captured";

  private final MethodNode copy;
  private final CapturedValues values;

  /** Slot of the first new parameter. */
  private final int first;

  private LambdaBody(MethodNode copy, CapturedValues values, int first) {
    this.copy = copy;
    this.values = values;
    this.first = first;
  }

  /**
   * Copies a method.
   *
   * @param site a site that creates lambdas of the method
   */
  static LambdaBody copyOf(MethodNode body, LambdaSite site, CapturedValues values) {
    boolean hasReceiver = (body.access & Opcodes.ACC_STATIC) == 0;
    int parameters = site.capturedTypes().length - (hasReceiver ? 1 : 0);
    int first = Arrays.stream(site.capturedTypes()).mapToInt(type -> type.getSize()).sum();
    MethodNode copy =
        new MethodNode(
            Opcodes.ASM9,
            body.access,
            body.name + SUFFIX,
            values.insertedInto(body.desc, parameters),
            null,
            body.exceptions.toArray(new String[0]));
    body.accept(copy);
    LambdaBody result = new LambdaBody(copy, values, first);
    result.shiftLocals();
    return result;
  }

  MethodNode method() {
    return copy;
  }

  CapturedValues values() {
    return values;
  }

  /** Returns the handle of the copy, given that of the original. */
  Handle handle(Handle original) {
    return new Handle(
        original.getTag(), original.getOwner(), copy.name, copy.desc, original.isInterface());
  }

  /** Returns an instruction of the copy that pushes the value of a variable. */
  AbstractInsnNode load(CellVariable variable) {
    return new VarInsnNode(variable.type().getOpcode(Opcodes.ILOAD), values.slot(variable, first));
  }

  private void shiftLocals() {
    for (AbstractInsnNode instruction : copy.instructions.toArray()) {
      if (instruction instanceof VarInsnNode access) {
        access.var = shifted(access.var);
      } else if (instruction instanceof IincInsnNode increment) {
        increment.var = shifted(increment.var);
      } else if (instruction instanceof FrameNode frame) {
        frame.local = List.of(values.insertedInto(frame.local.toArray(), first));
      } else if (CellVariable.isRead(instruction)) {
        copy.instructions.set(instruction, load(CellVariable.of((FieldInsnNode) instruction)));
      }
    }
    if (copy.localVariables != null) {
      for (LocalVariableNode local : copy.localVariables) {
        local.index = shifted(local.index);
      }
    }
  }

  private int shifted(int slot) {
    return slot < first ? slot : slot + values.slots();
  }
}
