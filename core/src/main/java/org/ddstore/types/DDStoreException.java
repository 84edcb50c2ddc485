package org.ddstore.types;

/**
 * A failure outside the caller's control: memory, files, another rank or the network. Mistakes of
 * the caller are reported as exceptions of the JDK.
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
