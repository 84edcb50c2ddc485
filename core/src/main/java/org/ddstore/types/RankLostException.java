// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown if the process of a rank ends while others wait for it. */
public class RankLostException extends RankFailedException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param rank rank that the failure concerns
   * @param message description of the failure
   */
  public RankLostException(int rank, String message) {
    super(rank, message);
  }
}
