// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * Thrown if an argument of a call in a task is illegal, such as a state of another configuration. A
 * job is not submitted again after it, because every attempt passes the same argument.
 */
public class RejectedArgumentException extends IllegalArgumentException
    implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public RejectedArgumentException(String message) {
    super(message);
  }
}
