// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The serializable lambdas of one class of a cell. Each is made to capture the values of the cell
 * variables that it reads, at the moment when it is created, as Java captures local variables. The
 * class before and after:
 *
 * <pre>
 * do_it$:    invokedynamic lambda$0()              getstatic n; invokedynamic lambda$0$captured(n)
 * lambda$0:  getstatic n; ..                       (unchanged, unused)
 * lambda$0$captured:                               iload n; ..
 * </pre>
 *
 * Lambdas inside of such a lambda capture the values from it. Other lambdas are unchanged.
 */
final class LambdaCaptures {
  private final ClassNode owner;

  /** Methods that hold bodies of lambdas, by name and descriptor. */
  private final Map<String, MethodNode> bodies;

  private final Map<String, Set<CellVariable>> reads = new HashMap<>();
  private final Map<String, Set<CellVariable>> writes = new HashMap<>();
  private final Map<String, LambdaBody> copies = new HashMap<>();

  private LambdaCaptures(ClassNode owner) {
    this.owner = owner;
    this.bodies =
        owner.methods.stream()
            .filter(method -> (method.access & Opcodes.ACC_SYNTHETIC) != 0)
            .collect(Collectors.toMap(method -> method.name + method.desc, Function.identity()));
  }

  /** Changes the methods of a class. */
  static void rewrite(ClassNode owner) {
    LambdaCaptures captures = new LambdaCaptures(owner);
    boolean isChanged = false;
    for (MethodNode method : List.copyOf(owner.methods)) {
      if (!DeserializeMethod.isOne(method)) {
        isChanged |= captures.rewrite(method);
      }
    }
    if (isChanged) {
      DeserializeMethod.replaceIn(owner);
    }
  }

  private boolean rewrite(MethodNode method) {
    boolean isChanged = false;
    for (AbstractInsnNode instruction : method.instructions.toArray()) {
      Optional<LambdaSite> found = LambdaSite.of(instruction).filter(LambdaSite::isSerializable);
      if (found.isEmpty()) {
        continue;
      }
      LambdaSite site = found.get();
      Optional<CellVariable> assigned = writes(site).stream().findFirst();
      if (assigned.isPresent()) {
        method.instructions.insertBefore(instruction, IllegalUses.creation(owner, assigned.get()));
      } else if (!reads(site).isEmpty()) {
        LambdaBody body = copy(site);
        for (CellVariable each : body.values().variables()) {
          method.instructions.insertBefore(
              instruction,
              new FieldInsnNode(Opcodes.GETSTATIC, each.owner(), each.name(), each.descriptor()));
        }
        site.redirect(body.handle(site.implementation()), body.values());
        isChanged = true;
      }
    }
    return isChanged;
  }

  /** Returns the copy of a lambda's method that takes the values of variables, adding it once. */
  private LambdaBody copy(LambdaSite site) {
    String key = site.implementationKey();
    LambdaBody known = copies.get(key);
    if (known != null) {
      return known;
    }
    CapturedValues values = new CapturedValues(List.copyOf(reads(site)));
    LambdaBody body = LambdaBody.copyOf(bodies.get(key), site, values);
    copies.put(key, body);
    owner.methods.add(body.method());
    for (AbstractInsnNode instruction : body.method().instructions.toArray()) {
      Optional<LambdaSite> inner =
          LambdaSite.of(instruction).filter(each -> !reads(each).isEmpty());
      if (inner.isPresent()) {
        LambdaBody innerBody = copy(inner.get());
        for (CellVariable each : innerBody.values().variables()) {
          body.method().instructions.insertBefore(instruction, body.load(each));
        }
        inner.get().redirect(innerBody.handle(inner.get().implementation()), innerBody.values());
      }
    }
    return body;
  }

  private Set<CellVariable> reads(LambdaSite site) {
    return used(site, reads, CellVariable::isRead);
  }

  private Set<CellVariable> writes(LambdaSite site) {
    return used(site, writes, CellVariable::isWrite);
  }

  /** Returns the variables that a lambda uses, and those that lambdas inside of it use. */
  private Set<CellVariable> used(
      LambdaSite site, Map<String, Set<CellVariable>> known, Predicate<AbstractInsnNode> isUse) {
    MethodNode body = bodies.get(site.implementationKey());
    if (body == null || !site.implementation().getOwner().equals(owner.name)) {
      return Set.of(); // a reference to a method
    }
    Set<CellVariable> found = known.get(site.implementationKey());
    if (found == null) {
      found = new LinkedHashSet<>();
      for (AbstractInsnNode instruction : body.instructions) {
        if (isUse.test(instruction)) {
          found.add(CellVariable.of((FieldInsnNode) instruction));
        }
        Optional<LambdaSite> inner = LambdaSite.of(instruction);
        if (inner.isPresent()) {
          found.addAll(used(inner.get(), known, isUse));
        }
      }
      known.put(site.implementationKey(), found);
    }
    return found;
  }
}
