// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The serializable lambdas of one class of a cell. Each is made to capture the values of the cell
 * variables that it reads, at the moment when it is created, as Java captures local variables:
 *
 * <pre>
 * before   do_it$:          invokedynamic call() -> lambda$0
 *          lambda$0(rank):  getstatic n; iload rank; ..
 * after    do_it$:          getstatic n; invokedynamic call(int) -> lambda$0
 *          lambda$0(n, rank):  iload n; iload rank; ..
 * </pre>
 *
 * <p>The new parameters come after those of captured local variables, before those of the
 * interface. Lambdas inside of such a lambda capture the values from it. The compiler must not let
 * two lambdas share a method.
 */
final class LambdaCaptures {
  private static final String FACTORY = Type.getInternalName(LambdaMetafactory.class);
  private static final String SERIALIZABLE_FACTORY = "altMetafactory";
  private static final int SERIALIZABLE = LambdaMetafactory.FLAG_SERIALIZABLE;

  /** The method by which {@link SerializedLambda} creates lambdas again. */
  private static final String DESERIALIZE = "$deserializeLambda$";

  private static final String SERIALIZED_LAMBDA = Type.getInternalName(SerializedLambda.class);

  /**
   * The variables that a method of a lambda captures.
   *
   * @param variables the variables, in the order of the new parameters
   * @param position number of parameters before them
   * @param slot slot of the first one among the local variables
   */
  private record Capture(List<CellVariable> variables, int position, int slot) {
    int slots() {
      return variables.stream().mapToInt(each -> each.type().getSize()).sum();
    }

    int shifted(int local) {
      return local < slot ? local : local + slots();
    }

    AbstractInsnNode load(CellVariable variable) {
      int local = slot;
      for (CellVariable each : variables.subList(0, variables.indexOf(variable))) {
        local += each.type().getSize();
      }
      return new VarInsnNode(variable.type().getOpcode(Opcodes.ILOAD), local);
    }

    /** Returns a descriptor with the variables as parameters from a position on. */
    String insertedInto(String descriptor, int at) {
      List<Type> types = new ArrayList<>(Arrays.asList(Type.getArgumentTypes(descriptor)));
      types.addAll(at, variables.stream().map(CellVariable::type).toList());
      return Type.getMethodDescriptor(Type.getReturnType(descriptor), types.toArray(new Type[0]));
    }

    /** Returns the types of local variables in a stack map frame. */
    List<Object> insertedInto(List<Object> locals) {
      List<Object> all = new ArrayList<>();
      int used = 0;
      int next = 0;
      for (; used < slot; next++) {
        Object local = next < locals.size() ? locals.get(next) : Opcodes.TOP;
        all.add(local);
        used += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 2 : 1;
      }
      variables.forEach(variable -> all.add(variable.frameType()));
      locals.stream().skip(next).forEach(all::add);
      return all;
    }
  }

  private final ClassNode owner;

  /** Methods that hold bodies of lambdas, by {@link #key}. */
  private final Map<String, MethodNode> bodies;

  /** What the methods of lambdas capture, by {@link #key}. */
  private final Map<String, Capture> captures = new HashMap<>();

  private LambdaCaptures(ClassNode owner) {
    this.owner = owner;
    this.bodies =
        owner.methods.stream()
            .filter(method -> (method.access & Opcodes.ACC_SYNTHETIC) != 0)
            .collect(Collectors.toMap(LambdaCaptures::key, Function.identity()));
  }

  /** Changes the methods of a class. */
  static void rewrite(ClassNode owner) {
    LambdaCaptures all = new LambdaCaptures(owner);
    for (MethodNode method : owner.methods) {
      sites(method).filter(LambdaCaptures::isSerializable).forEach(all::capture);
    }
    owner.methods.forEach(all::change);
  }

  private static String key(MethodNode method) {
    return method.name + method.desc;
  }

  /** Returns the key of the method of a lambda; of no method of this class for a reference. */
  private String key(InvokeDynamicInsnNode site) {
    Handle body = (Handle) site.bsmArgs[1];
    return body.getOwner().equals(owner.name) ? body.getName() + body.getDesc() : "";
  }

  /** Returns the instructions that create lambdas and method references. */
  private static Stream<InvokeDynamicInsnNode> sites(MethodNode method) {
    return Stream.of(method.instructions.toArray())
        .filter(InvokeDynamicInsnNode.class::isInstance)
        .map(InvokeDynamicInsnNode.class::cast)
        .filter(site -> site.bsm.getOwner().equals(FACTORY));
  }

  private static boolean isSerializable(InvokeDynamicInsnNode site) {
    return site.bsm.getName().equals(SERIALIZABLE_FACTORY)
        && ((Integer) site.bsmArgs[3] & SERIALIZABLE) != 0;
  }

  /** Notes what a lambda and the lambdas inside of it capture. */
  private void capture(InvokeDynamicInsnNode site) {
    String key = key(site);
    MethodNode body = bodies.get(key);
    if (body == null || captures.containsKey(key)) {
      return;
    }
    Set<CellVariable> variables = new LinkedHashSet<>();
    Stream.of(body.instructions.toArray())
        .filter(CellVariable::isRead)
        .map(CellVariable::of)
        .forEach(variables::add);
    sites(body).forEach(this::capture);
    sites(body)
        .filter(inner -> captures.containsKey(key(inner)))
        .forEach(inner -> variables.addAll(captures.get(key(inner)).variables()));
    if (!variables.isEmpty()) {
      Type[] captured = Type.getArgumentTypes(site.desc);
      boolean hasReceiver = (body.access & Opcodes.ACC_STATIC) == 0;
      captures.put(
          key,
          new Capture(
              List.copyOf(variables),
              captured.length - (hasReceiver ? 1 : 0),
              Stream.of(captured).mapToInt(Type::getSize).sum()));
    }
  }

  private void change(MethodNode method) {
    Capture own = captures.get(key(method));
    sites(method)
        .filter(site -> captures.containsKey(key(site)))
        .forEach(site -> redirect(method, site));
    if (own == null) {
      return;
    }
    for (AbstractInsnNode instruction : method.instructions.toArray()) {
      if (CellVariable.isRead(instruction)) {
        method.instructions.set(instruction, own.load(CellVariable.of(instruction)));
      } else if (instruction instanceof VarInsnNode access) {
        access.var = own.shifted(access.var);
      } else if (instruction instanceof IincInsnNode increment) {
        increment.var = own.shifted(increment.var);
      } else if (instruction instanceof FrameNode frame) {
        frame.local = own.insertedInto(frame.local);
      }
    }
    method.localVariables = null; // names for debuggers
    method.desc = own.insertedInto(method.desc, own.position());
  }

  /** Makes an instruction create a lambda with the values of the variables. */
  private void redirect(MethodNode method, InvokeDynamicInsnNode site) {
    Capture capture = captures.get(key(site));
    Handle body = (Handle) site.bsmArgs[1];
    String descriptor = capture.insertedInto(body.getDesc(), capture.position());
    int captured = Type.getArgumentTypes(site.desc).length;
    if (method.name.equals(DESERIALIZE)) {
      expect(descriptor, site, body.getDesc());
      for (int i = 0; i < capture.variables().size(); i++) {
        method.instructions.insertBefore(
            site, deserialized(captured + i, capture.variables().get(i).type()));
      }
    } else {
      // Reads of variables become reads of parameters with the others of the method.
      capture.variables().forEach(each -> method.instructions.insertBefore(site, each.read()));
    }
    site.bsmArgs = site.bsmArgs.clone(); // instructions can share the array
    site.bsmArgs[1] =
        new Handle(body.getTag(), body.getOwner(), body.getName(), descriptor, body.isInterface());
    site.desc = capture.insertedInto(site.desc, captured);
  }

  /** Changes the descriptor for which {@link #DESERIALIZE} creates a lambda. */
  private static void expect(String descriptor, AbstractInsnNode site, String former) {
    for (AbstractInsnNode each = site; each != null; each = each.getPrevious()) {
      if (each instanceof LdcInsnNode constant && constant.cst.equals(former)) {
        constant.cst = descriptor;
        return;
      }
    }
    throw new IllegalStateException("%s does not check %s".formatted(DESERIALIZE, former));
  }

  /** Returns instructions that push a captured value of a serialized lambda. */
  private static InsnList deserialized(int index, Type type) {
    MethodNode code = new MethodNode(Opcodes.ASM9);
    code.visitVarInsn(Opcodes.ALOAD, 0);
    code.visitLdcInsn(index);
    code.visitMethodInsn(
        Opcodes.INVOKEVIRTUAL, SERIALIZED_LAMBDA, "getCapturedArg", "(I)Ljava/lang/Object;", false);
    boolean isPrimitive = type.getSort() < Type.ARRAY;
    String getter = "()" + type.getDescriptor();
    String object =
        isPrimitive
            ? Type.getInternalName(
                MethodType.fromMethodDescriptorString(getter, null).wrap().returnType())
            : type.getInternalName();
    code.visitTypeInsn(Opcodes.CHECKCAST, object);
    if (isPrimitive) {
      String unbox = type.getClassName() + "Value";
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, object, unbox, getter, false);
    }
    return code.instructions;
  }
}
