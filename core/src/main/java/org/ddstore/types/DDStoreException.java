package org.ddstore.types;

/**
 * A failure of the world around a store: memory, files, another rank, the network. Mistakes of the
 * caller are reported by the JDK's own exceptions instead.
 */
public class DDStoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DDStoreException(String message) {
    super(message);
  }

  public DDStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
