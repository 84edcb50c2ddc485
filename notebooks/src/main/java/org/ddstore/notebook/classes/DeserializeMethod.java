// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The method by which {@link java.lang.invoke.SerializedLambda} creates lambdas of a class again. A
 * class has one if it creates serializable lambdas.
 */
final class DeserializeMethod {
  private static final String NAME = "$deserializeLambda$";
  private static final String FORM = "java/lang/invoke/SerializedLambda";
  private static final String DESCRIPTOR = "(L" + FORM + ";)Ljava/lang/Object;";
  private static final int ACCESS =
      Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;

  /** The values that tell lambdas apart, in the order of {@link #key}. */
  private static final List<String> GETTERS =
      List.of(
          "getImplMethodName",
          "getImplMethodSignature",
          "getImplClass",
          "getFunctionalInterfaceClass",
          "getFunctionalInterfaceMethodName",
          "getFunctionalInterfaceMethodSignature",
          "getInstantiatedMethodType");

  private final MethodNode method =
      new MethodNode(Opcodes.ASM9, ACCESS, NAME, DESCRIPTOR, null, null);

  private DeserializeMethod() {}

  static boolean isOne(MethodNode method) {
    return method.name.equals(NAME) && method.desc.equals(DESCRIPTOR);
  }

  /** Replaces the method of the compiler by one for the lambdas that the class creates now. */
  static void replaceIn(ClassNode owner) {
    owner.methods.removeIf(DeserializeMethod::isOne);
    DeserializeMethod replacement = new DeserializeMethod();
    Map<List<String>, LambdaSite> sites = sites(owner);
    sites.forEach(replacement::create);
    replacement.refuse();
    owner.methods.add(replacement.method);
  }

  /** Returns one site for each kind of lambda, by the values that tell them apart. */
  private static Map<List<String>, LambdaSite> sites(ClassNode owner) {
    Map<List<String>, LambdaSite> sites = new LinkedHashMap<>();
    for (MethodNode each : owner.methods) {
      for (AbstractInsnNode instruction : each.instructions) {
        LambdaSite.of(instruction)
            .filter(LambdaSite::isSerializable)
            .ifPresent(site -> sites.putIfAbsent(key(site), site));
      }
    }
    return sites;
  }

  /** Returns the values that {@link #GETTERS} read from the serialized form of a lambda. */
  private static List<String> key(LambdaSite site) {
    Handle implementation = site.implementation();
    return List.of(
        implementation.getName(),
        implementation.getDesc(),
        implementation.getOwner(),
        site.interfaceClass(),
        site.interfaceMethod(),
        site.interfaceMethodType(),
        site.instantiatedMethodType());
  }

  /** Returns a lambda of a site if the serialized form is one of its. */
  private void create(List<String> key, LambdaSite site) {
    Label next = new Label();
    for (int i = 0; i < key.size(); i++) {
      method.visitVarInsn(Opcodes.ALOAD, 0);
      get(GETTERS.get(i), "()Ljava/lang/String;");
      method.visitLdcInsn(key.get(i));
      method.visitMethodInsn(
          Opcodes.INVOKEVIRTUAL, "java/lang/Object", "equals", "(Ljava/lang/Object;)Z", false);
      method.visitJumpInsn(Opcodes.IFEQ, next);
    }
    Type[] captured = site.capturedTypes();
    for (int i = 0; i < captured.length; i++) {
      method.visitVarInsn(Opcodes.ALOAD, 0);
      method.visitLdcInsn(i);
      get("getCapturedArg", "(I)Ljava/lang/Object;");
      cast(captured[i]);
    }
    method.visitInvokeDynamicInsn(
        site.interfaceMethod(),
        site.instruction().desc,
        site.instruction().bsm,
        site.instruction().bsmArgs);
    method.visitInsn(Opcodes.ARETURN);
    method.visitLabel(next);
    method.visitFrame(Opcodes.F_NEW, 1, new Object[] {FORM}, 0, new Object[0]);
  }

  private void get(String getter, String descriptor) {
    method.visitMethodInsn(Opcodes.INVOKEVIRTUAL, FORM, getter, descriptor, false);
  }

  /** Casts the object on the stack to a type, or to the box of a primitive type and unboxes it. */
  private void cast(Type type) {
    String box =
        switch (type.getSort()) {
          case Type.BOOLEAN -> "java/lang/Boolean";
          case Type.CHAR -> "java/lang/Character";
          case Type.BYTE -> "java/lang/Byte";
          case Type.SHORT -> "java/lang/Short";
          case Type.INT -> "java/lang/Integer";
          case Type.LONG -> "java/lang/Long";
          case Type.FLOAT -> "java/lang/Float";
          case Type.DOUBLE -> "java/lang/Double";
          default -> null;
        };
    method.visitTypeInsn(Opcodes.CHECKCAST, box == null ? type.getInternalName() : box);
    if (box != null) {
      method.visitMethodInsn(
          Opcodes.INVOKEVIRTUAL,
          box,
          type.getClassName() + "Value",
          "()" + type.getDescriptor(),
          false);
    }
  }

  private void refuse() {
    String exception = "java/lang/IllegalArgumentException";
    method.visitTypeInsn(Opcodes.NEW, exception);
    method.visitInsn(Opcodes.DUP);
    method.visitLdcInsn("Invalid lambda deserialization");
    method.visitMethodInsn(
        Opcodes.INVOKESPECIAL, exception, "<init>", "(Ljava/lang/String;)V", false);
    method.visitInsn(Opcodes.ATHROW);
  }
}
