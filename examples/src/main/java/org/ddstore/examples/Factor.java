// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

/**
 * Numbers by which arrays of a forward pass are multiplied. The backward pass reads them again.
 * {@code array.mul(0.5f)} of DJL 0.35 keeps the number in a direct buffer to which nothing refers
 * after the call: if the JVM collects it before the backward pass, the gradients are wrong. The
 * same holds for {@code div}, and for {@code Loss.l2Loss()}, which calls {@code mul}.
 */
public final class Factor {
  private Factor() {}

  /**
   * Returns a number as an array.
   *
   * @param memory owner of the array; open until the backward pass has ended
   */
  public static NDArray of(NDManager memory, double number) {
    return memory.create((float) number);
  }
}
