package org.ddstore;

/** How a rank reaches a row. */
public enum ReadPath {
  /** The row lies in memory that this process owns. */
  OWN_PROCESS("own process"),
  /** The row lies in a file of another process of this host that this one has mapped. */
  SAME_HOST("same host"),
  /** The row comes over a network. */
  REMOTE("remote");

  private final String text;

  ReadPath(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
