// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.IOException;
import org.ddstore.types.DDStoreException;

/**
 * Thrown if the file system fails to read a file. The message begins with the path of the file. A
 * job that fails by it is submitted again.
 */
public final class FileReadException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param file path of the file
   * @param cause failure of the file system
   */
  public FileReadException(String file, IOException cause) {
    super(file + ": cannot be read: " + cause, cause);
  }
}
