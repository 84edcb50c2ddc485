package org.ddstore.collective;

/** How {@link Communicator#allReduce(float[], ReduceOp) allReduce} joins the ranks' elements. */
public enum ReduceOp {
  /** Addition in the element type; {@code long} wraps around. */
  SUM,
  /** {@link Math#min(float, float)}: NaN wins, and -0.0 is below 0.0. */
  MIN,
  /** {@link Math#max(float, float)}: NaN wins, and 0.0 is above -0.0. */
  MAX
}
