// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** The path by which a rank reads a row. */
public enum ReadPath {
  /** The row lies in memory that this process owns. */
  OWN_PROCESS(0, "own process"),
  /** The row lies in a mapped file of another process on this host. */
  SAME_HOST(1, "same host"),
  /** The row is read over a network. */
  REMOTE(2, "remote");

  private final int index;
  private final String text;

  ReadPath(int index, String text) {
    this.index = index;
    this.text = text;
  }

  /** {@return the index of this path in arrays with one element per path} */
  public int index() {
    return index;
  }

  @Override
  public String toString() {
    return text;
  }
}
