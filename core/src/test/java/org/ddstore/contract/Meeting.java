// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

/**
 * The connection of the ranks of a run with each other and with the test. It uses no code under
 * test: a broken network or a lost rank's memory does not affect it. Used by one thread of a rank.
 */
public interface Meeting {
  int rank();

  int ranks();

  /** The address at which the other ranks can reach a server of this one. */
  String address();

  /** Returns true if a rank runs on this rank's host, so that both see the same /dev/shm. */
  boolean sharesHost(int other);

  /**
   * Gives bytes of each rank to all, by rank. Collective; may be empty and differ in length.
   *
   * @throws IllegalStateException if a rank has come to its end and so does not take part
   */
  byte[][] tell(byte[] mine);

  /**
   * Has the test do what it offers under this name, and returns when that is done. Local.
   *
   * @throws IllegalStateException if that fails or nothing of this name is offered
   */
  void act(String name);
}
