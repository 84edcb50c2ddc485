package org.ddstore.types;

/** How a rank reaches a row. */
public enum ReadPath {
  /** The row lies in memory that this process owns. */
  OWN_PROCESS(0, "own process"),
  /** The row lies in a file of another process of this host that this one has mapped. */
  SAME_HOST(1, "same host"),
  /** The row comes over a network. */
  REMOTE(2, "remote");

  private final int index;
  private final String text;

  ReadPath(int index, String text) {
    this.index = index;
    this.text = text;
  }

  /** The place of this path in arrays that have one element per path. */
  public int index() {
    return index;
  }

  @Override
  public String toString() {
    return text;
  }
}
