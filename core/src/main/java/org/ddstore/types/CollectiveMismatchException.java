// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown if ranks call different collectives, or the same one with different arguments. */
public class CollectiveMismatchException extends RankFailedException {
  private static final long serialVersionUID = 1L;

  /**
   * @param rank lowest rank that differs from rank 0
   * @param message description of the difference
   */
  public CollectiveMismatchException(int rank, String message) {
    super(rank, message);
  }
}
