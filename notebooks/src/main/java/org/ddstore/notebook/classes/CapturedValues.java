// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The variables of cells that a lambda reads, in the order in which they become parameters.
 *
 * @param variables different variables
 */
record CapturedValues(List<CellVariable> variables) {
  CapturedValues {
    variables = List.copyOf(variables);
  }

  /** Returns the descriptor with the variables as the last parameters. */
  String appendedTo(String descriptor) {
    return insertedInto(descriptor, Type.getArgumentTypes(descriptor).length);
  }

  /** Returns the descriptor with the variables as parameters from the given position on. */
  String insertedInto(String descriptor, int position) {
    List<Type> types = new ArrayList<>(Arrays.asList(Type.getArgumentTypes(descriptor)));
    types.addAll(position, variables.stream().map(CellVariable::type).toList());
    return Type.getMethodDescriptor(Type.getReturnType(descriptor), types.toArray(new Type[0]));
  }

  /** Returns the number of slots of local variables that the values take. */
  int slots() {
    return variables.stream().mapToInt(variable -> variable.type().getSize()).sum();
  }

  /** Returns the slot of a variable, if the first one has slot {@code first}. */
  int slot(CellVariable variable, int first) {
    int slot = first;
    for (CellVariable each : variables) {
      if (each.equals(variable)) {
        return slot;
      }
      slot += each.type().getSize();
    }
    throw new IllegalArgumentException("%s is not captured: %s".formatted(variable, this));
  }

  /**
   * Returns the types of local variables in a stack map frame, with those of the values from slot
   * {@code first} on.
   */
  Object[] insertedInto(Object[] locals, int first) {
    List<Object> all = new ArrayList<>();
    int slot = 0;
    int next = 0;
    for (; slot < first; next++) {
      Object local = next < locals.length ? locals[next] : Opcodes.TOP;
      all.add(local);
      slot += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 2 : 1;
    }
    variables.forEach(variable -> all.add(variable.frameType()));
    Stream.of(locals).skip(next).forEach(all::add);
    return all.toArray();
  }
}
