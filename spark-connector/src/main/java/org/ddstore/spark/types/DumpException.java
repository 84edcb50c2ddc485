// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * Thrown when a dump of a store cannot be written or read, for example because the disk is full or
 * the user lacks a permission. The message names the directory, and the cause is the exception of
 * the file system. See {@link InvalidDumpException} for a directory without a readable dump.
 */
public class DumpException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   * @param cause exception of the file system; null if there is none
   */
  public DumpException(String message, Throwable cause) {
    super(message, cause);
  }
}
