// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/** An operation by which {@code allReduce} combines the elements of the ranks. */
public enum ReduceOp {
  /** Addition in the element type; {@code long} wraps around. */
  SUM,
  /** {@link Math#min(float, float)}: NaN wins, and -0.0 is below 0.0. */
  MIN,
  /** {@link Math#max(float, float)}: NaN wins, and 0.0 is above -0.0. */
  MAX
}
