// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.Optional;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;

/**
 * An instruction that creates a lambda or a method reference.
 *
 * @param instruction the instruction, whose operands are the captured values
 */
record LambdaSite(InvokeDynamicInsnNode instruction) {
  private static final String FACTORY = "java/lang/invoke/LambdaMetafactory";
  private static final String SERIALIZABLE_FACTORY = "altMetafactory";

  /** {@link java.lang.invoke.LambdaMetafactory#FLAG_SERIALIZABLE}. */
  private static final int SERIALIZABLE = 1;

  /** Returns the site, if an instruction is one. */
  static Optional<LambdaSite> of(AbstractInsnNode instruction) {
    return instruction instanceof InvokeDynamicInsnNode dynamic
            && dynamic.bsm.getOwner().equals(FACTORY)
        ? Optional.of(new LambdaSite(dynamic))
        : Optional.empty();
  }

  /** Returns whether the created object can be serialized. */
  boolean isSerializable() {
    return instruction.bsm.getName().equals(SERIALIZABLE_FACTORY)
        && ((Integer) instruction.bsmArgs[3] & SERIALIZABLE) != 0;
  }

  /** Returns the method that holds the body of the lambda, or to which the reference refers. */
  Handle implementation() {
    return (Handle) instruction.bsmArgs[1];
  }

  String implementationKey() {
    return implementation().getName() + implementation().getDesc();
  }

  /** Returns the name of the method of the functional interface. */
  String interfaceMethod() {
    return instruction.name;
  }

  /** Returns the internal name of the functional interface. */
  String interfaceClass() {
    return Type.getReturnType(instruction.desc).getInternalName();
  }

  /** Returns the erased descriptor of the method of the functional interface. */
  String interfaceMethodType() {
    return ((Type) instruction.bsmArgs[0]).getDescriptor();
  }

  /** Returns the descriptor of that method with the types at the site. */
  String instantiatedMethodType() {
    return ((Type) instruction.bsmArgs[2]).getDescriptor();
  }

  Type[] capturedTypes() {
    return Type.getArgumentTypes(instruction.desc);
  }

  /** Makes the site create lambdas of another method, which takes more captured values. */
  void redirect(Handle implementation, CapturedValues more) {
    instruction.bsmArgs = instruction.bsmArgs.clone(); // copies of an instruction share the array
    instruction.bsmArgs[1] = implementation;
    instruction.desc = more.appendedTo(instruction.desc);
  }
}
